"""Where a list of products ended, and walks along the indexes of its orders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("catalog")
FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)
LONG_AGO, FAR_AHEAD = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
Sort = Literal["-updated", "updated", "title", "-title", "price", "-price"]
NEWEST_FIRST: Sort = "-updated"
# The cursor's key among products without a title or price; no title begins with this character.
NO_KEY = "\uffff"


@dataclass(frozen=True, slots=True)
class ProductCursor:
    """A cursor: the number of matches by name so far, and the last product of the walk. ``key`` is
    what the list is sorted by; `NO_KEY` for a product without it."""

    named: int = 0
    moment: datetime = FAR_AHEAD
    id: UUID | None = None
    key: str = ""


class WalkedProduct(NamedTuple):
    """A product of a walk, and its place in the order: the time of its change, or its key."""

    id: UUID
    updated_at: datetime | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class _Order:
    """Statements in both directions, that for products without the value, and the values before the
    first and after the last one."""

    up: str
    down: str
    without: str
    lowest: str
    highest: str


_ORDERS = {
    "title": _Order(
        _sql.products_by_title, _sql.products_by_title_down, _sql.products_without_title, "",
        "\U0010ffff",
    ),
    "price": _Order(
        _sql.products_by_price, _sql.products_by_price_down, _sql.products_without_price,
        "-Infinity", "Infinity",
    ),
}  # fmt: skip


async def sorted_walk(
    conn: Connection, org_id: int, place: ProductCursor, most: int, sort: Sort
) -> list[WalkedProduct]:
    """The next products in an order; those without the value come last in both directions."""
    if sort == "updated":
        moment = LONG_AGO if place.id is None else place.moment
        rows = await conn.fetch(_sql.oldest_products, org_id, moment, place.id or FIRST_ID, most)
        return [WalkedProduct(*row) for row in rows]
    order, is_down = _ORDERS[sort.removeprefix("-")], sort.startswith("-")
    found: list[WalkedProduct] = []
    if place.key != NO_KEY:
        start, after = (order.highest, LAST_ID) if is_down else (order.lowest, FIRST_ID)
        if place.id is not None:
            start, after = place.key, place.id
        statement = order.down if is_down else order.up
        rows = await conn.fetch(statement, org_id, start, after, most)
        found = [WalkedProduct(row["id"], key=row["key"]) for row in rows]
    if len(found) < most:
        rest = place.id if place.key == NO_KEY and place.id is not None else FIRST_ID
        rows = await conn.fetch(order.without, org_id, rest, most - len(found))
        found += [WalkedProduct(row["id"], key=NO_KEY) for row in rows]
    return found
