"""Sources of a sandbox for tests."""

from __future__ import annotations

from typing import Any

import httpx2

from penstock.providers.sandbox.server import Sandbox


def configs_of(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
    """The configurations of the sandbox's sources, by format."""
    return {one["format"]: one["config"] for one in sandbox.description()["sources"]}


async def add_sources(client: httpx2.AsyncClient, sandbox: Sandbox, **changes: Any) -> list[str]:
    """Create all three sources; answers their ids."""
    made = []
    for config in configs_of(sandbox).values():
        answer = await client.post("/api/sources", json={**config, **changes})
        assert answer.status_code == 201, answer.text
        made.append(str(answer.json()["id"]))
    return made
