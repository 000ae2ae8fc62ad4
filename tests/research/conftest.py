from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.fixtures import Bench
from tests.research.support import Researcher, serving

from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving() as made:
        yield made


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1", "webhook_allow": "127.0.0.1"})


@pytest.fixture
def research(bench: Bench, sandbox: Sandbox) -> Researcher:
    return Researcher(bench, sandbox)
