"""The prefix that most columns of a file have in common: `p_model`, `p_stock`, `p_name.de`, and the
short names of tables before all columns: `AR_Ref`, `AR_Design`, `FA_CodeFamille`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MIN_COLUMNS = 4
MIN_SHARE = 0.5

# Tables that the columns of one file come from.
MAX_TABLES = 4
_TABLE = re.compile(r"(?:[A-Z]{1,3}|[a-z]{1,3})_(?=[^\W\d_]{2})")
_PREFIX = re.compile(r"[^\W_]{1,20}[_.:/]{1,2}(?=[^\W\d_])")


def names_without_prefix(header: Sequence[str]) -> list[str | None]:
    """Each name without the prefix; None for names that do not have it, and for all if too few
    columns share one."""
    tables = [match.group() if (match := _TABLE.match(name)) else "" for name in header]
    counts = Counter(tables)
    are_tables = "" not in counts and 1 < len(counts) <= MAX_TABLES
    if are_tables and _is_shared(max(counts.values()), len(header)):
        return [name.removeprefix(one) for name, one in zip(header, tables, strict=True)]
    prefixes = [match.group() if (match := _PREFIX.match(name)) else None for name in header]
    found = Counter(one for one in prefixes if one is not None).most_common(1)
    if not found or not _is_shared(found[0][1], len(header)):
        return [None] * len(header)
    shared = found[0][0]
    return [
        name.removeprefix(shared) if one == shared else None
        for name, one in zip(header, prefixes, strict=True)
    ]


def _is_shared(columns: int, of: int) -> bool:
    return columns >= max(MIN_COLUMNS, MIN_SHARE * of)
