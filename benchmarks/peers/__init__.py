"""Other queues, measured as Penstock is. This package runs in an environment of its own, with the
queues in it and without Penstock: it knows the standard library and one queue at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """A queue in one configuration. Its backlog of ``jobs`` takes it about two seconds, and so do
    ``live`` ones, submitted one by one; none: batch sizes change how fast a backlog goes, the rest
    is measured once per queue."""

    name: str
    module: str
    store: str
    jobs: int
    live: int = 0
    variant: str = ""


SYSTEMS = (
    System("Celery", "celery", "Redis", 1_500, 1_500),
    System("Dramatiq", "dramatiq", "Redis", 6_000, 5_000),
    System("Huey", "huey", "Redis", 6_000, 5_000),
    System("RQ", "rq", "Redis", 120, 120),
    System("RQ SimpleWorker", "rq", "Redis", 600, 500, variant="simple"),
    System("Procrastinate", "procrastinate", "PostgreSQL", 800, 600),
    System("PgQueuer", "pgqueuer", "PostgreSQL", 6_000, 1_000, variant="10"),
    System("PgQueuer, batches of 100", "pgqueuer", "PostgreSQL", 20_000, variant="100"),
    System("PgQueuer, batches of 500", "pgqueuer", "PostgreSQL", 20_000, variant="500"),
)
