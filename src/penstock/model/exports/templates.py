"""Templates of exports: which columns, in which order, by which names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.model.exports.variants import VariantShape


@dataclass(frozen=True, slots=True)
class ExportTemplate:
    """Pairs of a column and its name in the file. ``variants``: as a text of one cell, as rows of
    their own, or as numbered columns."""

    name: str
    columns: tuple[tuple[str, str], ...]
    variants: VariantShape = "text"

    @property
    def sources(self) -> list[str]:
        return [column for column, _ in self.columns]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.columns]

    def amounts(self, amounts: Collection[str]) -> frozenset[str]:
        """The names of columns that contain amounts of money."""
        return frozenset(name for column, name in self.columns if column in amounts)

    def as_json(self) -> dict[str, Any]:
        columns = [{"column": column, "name": name} for column, name in self.columns]
        return {"columns": columns, "variants": self.variants}

    @staticmethod
    def of_json(name: str, said: Mapping[str, Any]) -> ExportTemplate:
        columns = tuple((one["column"], one["name"]) for one in said["columns"])
        return ExportTemplate(name, columns, said.get("variants", "text"))
