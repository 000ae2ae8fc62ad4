"""Decide on links between products of two sources: accept, refuse, or undo a decision.

An accepted link says that two products are the same article of two suppliers. Nothing of either
product changes: they are shown side by side. A refused pair is not proposed again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from penstock.model.errors import BadInput, NotThere
from penstock.model.products import STATE_AFTER, LinkDecision, LinkReason, ProductName, ProductPair
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog import product_links as store
from penstock.store.catalog.product_links import ProductToLink, ProposedPair
from penstock.store.database import Connection, Transaction
from penstock.store.jobs.job_rows import JobDetails

# As many as a row proposes, so that a page holds all those of its last row.
_SMALLEST_PAGE = 5
_PATIENCE_S = 0.3
_FIRST_WINDOW, _WIDEST_WINDOW = 1000, 10_000
_DECIDED_AT_ONCE = 500
_MOST_AUDITED = 20


@dataclass(frozen=True, slots=True)
class ProposedPage:
    """``after`` is the row to continue after; None at the end."""

    org_id: int
    pairs: Sequence[ProposedPair]
    after: int | None


@dataclass(frozen=True, slots=True)
class DecideResult:
    """``skipped``: pairs of a product that resembles several products of one source; they are
    accepted one by one only. ``after`` is the row to continue after; None at the end."""

    decided: int
    skipped: int
    after: int | None


async def proposed_page(
    conn: Connection, job: JobDetails, by: LinkReason | None, after: int, size: int
) -> ProposedPage:
    """Up to ``size`` links, or those of one row if they are more; fewer if the time is up."""
    size = max(size, _SMALLEST_PAGE)
    deadline = time.monotonic() + _PATIENCE_S
    found: list[ProposedPair] = []
    window, total = _FIRST_WINDOW, job.total or 0
    while after < total:
        last = min(after + window, total)
        some = await store.proposed_in_rows(
            conn, job.org_id, job.id, after, last, by, with_new=job.undone_at is None
        )
        found += some
        if len(found) > size:
            # The row of the first link that does not fit goes to the next page whole.
            cut = found[size].row_no
            return ProposedPage(job.org_id, [one for one in found if one.row_no < cut], cut - 1)
        after = last
        if time.monotonic() > deadline:
            break
        window = min(window * 2, _WIDEST_WINDOW)
    return ProposedPage(job.org_id, found, after if after < total else None)


async def decide_all(
    transaction: Transaction, caller: Caller, job: JobDetails, decision: LinkDecision,
    by: LinkReason | None, after: int, seconds: float,
) -> DecideResult:  # fmt: skip
    """Decide all links that a job proposes, in short transactions, for at most so long. Audited."""
    deadline = time.monotonic() + seconds
    place: int | None = after
    decided = skipped = 0
    while place is not None and time.monotonic() < deadline:
        async with transaction() as conn:
            page = await proposed_page(conn, job, by, place, _DECIDED_AT_ONCE)
            chosen = _clear(page.pairs) if decision == "accept" else page.pairs
            skipped += len(page.pairs) - len(chosen)
            pairs = {one.pair: one.by for one in chosen}
            decided += await _write(conn, caller, job.org_id, decision, pairs, f"job:{job.id}")
        place = page.after
    return DecideResult(decided, skipped, place)


def _clear(pairs: Sequence[ProposedPair]) -> list[ProposedPair]:
    """Pairs whose product resembles one product of the other source only, in both directions."""
    seen: Counter[tuple[ProductName, str]] = Counter()
    for one in pairs:
        seen[one.product.name, one.other.source] += 1
        seen[one.other.name, one.product.source] += 1
    return [
        one
        for one in pairs
        if seen[one.product.name, one.other.source] == 1
        and seen[one.other.name, one.product.source] == 1
    ]


async def decide_named(
    conn: Connection, caller: Caller, decision: LinkDecision,
    pairs: Mapping[ProductPair, LinkReason],
) -> int:  # fmt: skip
    """Decide pairs by the names of their products, before an import creates one of them. Products
    that the catalog has give the reason; else it is the given one. Audited."""
    org_id = caller.who.org_id
    names = {name for pair in pairs for name in (pair.first, pair.second)}
    known = await store.products_named(conn, org_id, list(names))
    reasons: dict[ProductPair, LinkReason] = {}
    for pair, reason in pairs.items():
        one, other = known.get(pair.first), known.get(pair.second)
        if one is None and other is None:
            raise NotThere("NOT_FOUND", f"There is no product {pair.first.source_id!r}.")
        reasons[pair] = reason if one is None or other is None else _reason(one, other)
    return await _write(conn, caller, org_id, decision, reasons, "products")


async def decide_pairs(
    conn: Connection, caller: Caller, decision: LinkDecision, pairs: Sequence[tuple[UUID, UUID]]
) -> int:
    """Decide these pairs of products, whether they are proposed or not. Audited."""
    if not pairs:
        return 0
    wanted = {one for pair in pairs for one in pair}
    known = await store.products_to_link(conn, list(wanted))
    missing = sorted(str(one) for one in wanted - known.keys())
    if missing:
        raise NotThere("NOT_FOUND", f"There is no product {missing[0]}.")
    reasons: dict[ProductPair, LinkReason] = {}
    for one, other in ((known[first], known[second]) for first, second in pairs):
        if one.org_id != other.org_id or one.source == other.source:
            raise BadInput(
                "INVALID_PARAMETERS", "A link is between products of two sources of one org."
            )
        reasons[ProductPair.of(one.name, other.name)] = _reason(one, other)
    org_id = next(iter(known.values())).org_id
    if any(one.org_id != org_id for one in known.values()):
        raise BadInput("INVALID_PARAMETERS", "All products must be of the same org.")
    return await _write(conn, caller, org_id, decision, reasons, "products")


def _reason(one: ProductToLink, other: ProductToLink) -> LinkReason:
    if one.gtin is not None and one.gtin == other.gtin:
        return "gtin"
    return "mpn" if one.maker is not None and one.maker == other.maker else "manual"


async def _write(
    conn: Connection, caller: Caller, org_id: int, decision: LinkDecision,
    pairs: Mapping[ProductPair, LinkReason], target: str,
) -> int:  # fmt: skip
    if not pairs:
        return 0
    changed = await store.decide(conn, org_id, caller.who.user_id, STATE_AFTER[decision], pairs)
    if changed:
        some = [
            {"first": ":".join(pair.first), "second": ":".join(pair.second)}
            for pair in list(pairs)[:_MOST_AUDITED]
        ]
        await audit(
            conn, org_id, caller.who.user_id, f"link.{decision}", target, ip=caller.ip,
            after={"pairs": changed, "first": some},
        )  # fmt: skip
    return changed
