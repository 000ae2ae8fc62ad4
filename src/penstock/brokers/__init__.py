"""What wakes a worker, never the truth. A new broker is one module and one line in `BROKERS`."""

from __future__ import annotations

from collections.abc import Callable

from penstock.brokers.postgres import PostgresBroker
from penstock.model.ports import Broker, Log

# By the name that `PENSTOCK_BROKER` gives: made from the address and schema of the database.
BROKERS: dict[str, Callable[[str, str, Log, bool], Broker]] = {
    "postgres": lambda dsn, schema, log, listens: PostgresBroker(dsn, schema, log, listens=listens),
}
