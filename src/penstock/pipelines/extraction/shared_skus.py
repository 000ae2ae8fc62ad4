"""SKUs that occur in several products of a file with handles.

The handle identifies the product there, so both products are kept, but a shop that knows products
by SKU would mix them up. These rows get a warning.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.mapping.synonyms import names_handle
from penstock.formats.read_options import Problem

# Later SKUs of a larger file are not compared.
MAX_KNOWN = 200_000


class SharedSkus:
    """The handle of each SKU so far."""

    def __init__(self, handle: int, sku: int) -> None:
        self._handle, self._sku = handle, sku
        self._known: dict[str, str] = {}

    @staticmethod
    def of(names: Sequence[str], stats: Sequence[ColumnStats]) -> SharedSkus | None:
        """None for a file without handles or without SKUs."""
        if not any(map(names_handle, names)):
            return None
        targets = [one.target for one in propose(names, [one.samples for one in stats]).columns]
        if "identifiers.sku" not in targets or "variants.group" not in targets:
            return None
        handle = targets.index("variants.group")
        if not names_handle(names[handle]):
            return None
        return SharedSkus(handle, targets.index("identifiers.sku"))

    def find(self, rows: Sequence[Sequence[str]], passed: int) -> list[Problem]:
        """Problems of these rows; ``passed`` is the number of rows before them."""
        found = []
        for number, row in enumerate(rows, start=passed + 1):
            if max(self._handle, self._sku) >= len(row):
                continue
            sku, handle = row[self._sku].strip(), row[self._handle].strip()
            if not sku or not handle:
                continue
            first = self._known.get(sku)
            if first is None:
                if len(self._known) < MAX_KNOWN:
                    self._known[sku] = handle
            elif first != handle:
                said = f"The product {first[:80]!r} has the SKU {sku[:80]!r} too"
                found.append(Problem("SKU_SHARED", 0, said, self._sku + 1, number))
        return found
