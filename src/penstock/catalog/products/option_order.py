"""The order of a product's options, which the catalog does not keep.

Suppliers list variants option by option: red S, red M, blue S, blue M. So the option whose value
changes least from one variant to the next is the first one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any


def variants_in_order(variants: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The variants, with the options of each in the order of the supplier's list."""
    options = [found for one in variants if isinstance(found := one.get("options"), Mapping)]
    if not options or len(options[0]) < 2 or len(options) < len(variants):
        return variants
    first = options[0]
    if any(set(one) != set(first) for one in options):
        return variants
    names = sorted(first, key=lambda name: sum(a[name] != b[name] for a, b in pairwise(options)))
    if names == list(first):
        return variants
    return [
        {**one, "options": {name: its[name] for name in names}}
        for one, its in zip(variants, options, strict=True)
    ]
