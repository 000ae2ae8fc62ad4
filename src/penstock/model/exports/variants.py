"""How exports show the variants of a product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

VariantShape = Literal["text", "rows", "columns"]


class VariantTable(Protocol):
    """The variants in the results of a pipeline, as rows or as columns."""

    def columns(
        self, columns: Sequence[str], shape: VariantShape, *, are_chosen: bool
    ) -> list[str]:
        """The columns of the file for these columns of the results. Columns that a template chose
        all stay, and only numbered variants are added."""

    def rows(
        self, result: Mapping[str, Any], document: Mapping[str, Any] | None,
        columns: Sequence[str], shape: VariantShape,
    ) -> Sequence[Mapping[str, Any]]:  # fmt: skip
        """The cells of each line of a row, by column. ``document`` is the row's checkpoint. No line
        for a row that is part of the product of another one."""
