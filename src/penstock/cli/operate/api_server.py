"""The API as a process: it ends on a signal, or with the process that started it."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from socket import gethostname

import uvicorn

from penstock import wiring
from penstock.api.app import create_app
from penstock.api.http.server import server_config
from penstock.api.live.tail import Tail
from penstock.cli.local_session import opened
from penstock.cli.operate.process import SECONDS_TO_CLOSE, begin_process, on_stop, watch_loop
from penstock.engine.services.leader import Leader
from penstock.logs import get_logger
from penstock.settings import Settings
from penstock.supervisor.address import base_url, require_free_port
from penstock.supervisor.published import published_address

# Streams of events end at once; other requests get this long. The whole stop stays within 10 s.
_SECONDS_FOR_REQUESTS = 5
_SWITCH_S = 0.0002


async def serve_api(settings: Settings) -> None:
    begin_process(settings)
    require_free_port(settings.host, settings.port)
    # Threads write exports. A request needs the interpreter a dozen times, and each time would wait
    # for them this long.
    sys.setswitchinterval(_SWITCH_S)
    watchdog = watch_loop(settings)
    async with (
        opened(settings) as session,
        wiring.open_runtime(
            settings, session.addresses.owner_dsn, name="api engine", listens=False
        ) as runtime,
    ):
        api_dsn = session.addresses.api_dsn
        api_db = await wiring.api_database(settings, api_dsn).open()
        export_db = wiring.api_database(settings, api_dsn, settings.exports_at_once)
        try:
            app = create_app(runtime, api_db, await export_db.open())
            _spare_collections()
            server = _Server(
                server_config(app, settings, timeout_graceful_shutdown=_SECONDS_FOR_REQUESTS),
                app.state.live.tail,
            )
            on_stop(server.leave, _SECONDS_FOR_REQUESTS + SECONDS_TO_CLOSE, watchdog)
            url = base_url(settings.host, settings.port)
            get_logger().info("api serves", url=url)
            # An installation may have no worker for a while; the services must run anyway.
            leading = asyncio.create_task(Leader(runtime, f"{gethostname()}:{getpid()}:api").run())
            try:
                with published_address(settings.data_dir, url):
                    await server.serve()
            finally:
                leading.cancel()
                await asyncio.gather(leading, return_exceptions=True)
        finally:
            await export_db.close()
            await api_db.close()


def _spare_collections() -> None:
    """Exclude modules, routes and schemas from garbage collection, which stops all requests while
    it runs: they live as long as the process."""
    gc.collect()
    gc.freeze()


class _Server(uvicorn.Server):
    """Without uvicorn's own signal handling, which ends the process before ours can close."""

    def __init__(self, config: uvicorn.Config, streams: Tail) -> None:
        super().__init__(config)
        self._streams = streams

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def leave(self) -> None:
        """Finish running requests; after a second signal, do not wait for them. Event streams end
        at once, and their clients connect to another process."""
        self._streams.close()
        self.force_exit = self.should_exit
        self.should_exit = True
