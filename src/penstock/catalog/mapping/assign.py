"""Assign columns to targets so that the sum of all scores is the highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def assign(scores: Sequence[Mapping[str, float]]) -> list[str | None]:
    """One target or None per row of scores; no target is used twice, and the sum is maximal.

    Shortest augmenting paths with potentials; a row without a target costs nothing.
    """
    targets = sorted({target for row in scores for target in row})
    rows, real = len(scores), len(targets)
    width = real + rows
    cost = [
        [-row.get(target, 0.0) if target in row else 1.0 for target in targets] + [0.0] * rows
        for row in scores
    ]
    row_potential, column_potential = [0.0] * (rows + 1), [0.0] * (width + 1)
    taken_by = [0] * (width + 1)
    for row in range(1, rows + 1):
        path = _shortest_path(cost, row, taken_by, row_potential, column_potential)
        column = path[0]
        while column:
            before = path[1][column]
            taken_by[column] = taken_by[before] if before else row
            column = before
    chosen: list[str | None] = [None] * rows
    for column in range(1, real + 1):
        row = taken_by[column]
        if row and targets[column - 1] in scores[row - 1]:
            chosen[row - 1] = targets[column - 1]
    return chosen


def _shortest_path(
    cost: list[list[float]],
    row: int,
    taken_by: list[int],
    row_potential: list[float],
    column_potential: list[float],
) -> tuple[int, list[int]]:
    """The free column with the lowest cost from ``row``, and the path back from it."""
    width = len(column_potential) - 1
    least = [float("inf")] * (width + 1)
    came_from = [0] * (width + 1)
    seen = [False] * (width + 1)
    taken_by[0] = row
    column = 0
    while True:
        seen[column] = True
        current = taken_by[column]
        step, nearest = float("inf"), 0
        costs = cost[current - 1]
        for other in range(1, width + 1):
            if seen[other]:
                continue
            reduced = costs[other - 1] - row_potential[current] - column_potential[other]
            if reduced < least[other]:
                least[other], came_from[other] = reduced, column
            if least[other] < step:
                step, nearest = least[other], other
        for other in range(width + 1):
            if seen[other]:
                row_potential[taken_by[other]] += step
                column_potential[other] -= step
            else:
                least[other] -= step
        column = nearest
        if not taken_by[column]:
            return column, came_from
