"""The service that deletes what is older than the retention of its org."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.app.retention.prune import PruneConfig, Pruner, PruneResult
from penstock.engine.runtime import Runtime


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    every_ms: int = 600_000
    seconds: float = 500
    prune: PruneConfig = field(default_factory=PruneConfig)


class Retention:
    name = "retention"

    def __init__(self, runtime: Runtime, config: RetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or RetentionConfig()
        self.every_ms = self._config.every_ms

    async def run_once(self) -> PruneResult:
        pruned = await Pruner(self._runtime, self._config.seconds, self._config.prune).run()
        deleted = {kind: count for kind, count in pruned.counts.items() if count}
        if deleted:
            self._runtime.log.info("retention", more=pruned.more, **deleted)
        return pruned
