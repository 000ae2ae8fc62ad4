"""SKUs that several rows share, where columns for colour or size tell these rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.catalog.fields import SIZE_COLUMN
from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.proposal import Proposal
from penstock.catalog.mapping.synonyms import Candidate

SKU, GROUP = "identifiers.sku", "variants.group"
_OPTIONS = frozenset(
    {"variants.color", "variants.size", "variants.values", "variants.attributes"}
    | {f"variants.option{n}.value" for n in (1, 2, 3)}
)
_GROUPED_OTHERWISE = frozenset({GROUP, "variants.listed", "variants"})
# A tenth of the rows: fewer may be rows that the file has twice by mistake, and the number of
# distinct values is an estimate.
_LEAST_SHARE = 0.1


def group_by_sku(proposal: Proposal, stats: Sequence[ColumnStats]) -> Proposal:
    """Rows with one SKU and different options are variants of one product: the SKU groups them.
    As duplicates all but one of them would be lost."""
    targets = [one.target for one in proposal.columns]
    named = {one for one in targets if one is not None}
    if SKU not in named or not named & _OPTIONS or named & _GROUPED_OTHERWISE:
        return proposal
    place = targets.index(SKU)
    if place >= len(stats) or any(map(SIZE_COLUMN.fullmatch, named)):
        return proposal
    counted = stats[place]
    if counted.filled - counted.distinct < max(1.0, counted.filled * _LEAST_SHARE):
        return proposal
    sku = proposal.columns[place]
    others = (
        Candidate(SKU, sku.confidence),
        *(one for one in sku.alternatives if one.target != GROUP),
    )
    grouped = replace(sku, target=GROUP, alternatives=others)
    columns = (*proposal.columns[:place], grouped, *proposal.columns[place + 1 :])
    return replace(proposal, columns=columns)
