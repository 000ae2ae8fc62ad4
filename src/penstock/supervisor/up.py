"""`penstock up`: everything on one machine, started and stopped together."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic
from typing import IO

from pydantic import SecretStr

from penstock.settings import Settings
from penstock.supervisor.address import answers_ok, base_url, require_free_port
from penstock.supervisor.children import penstock_command
from penstock.supervisor.cluster import rotate_log
from penstock.supervisor.errors import StartFailed, SupervisorError
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.supervisor.watch import KeptChild, Say, keep_postgres, stop_all

_HEALTH_S = 60.0
# The child's own timeout is shorter, and logs the reason.
_CLOSING_S = 12.0
_TRIES_BEFORE_HEALTHY = 3


@dataclass(frozen=True)
class Addresses:
    """Where the database is: as owner of everything, and as the API's role."""

    owner_dsn: str
    api_dsn: str


# Migrates and bootstraps; returns the lines to show of the first admin, if any.
Prepare = Callable[[Addresses], Awaitable[Sequence[str]]]
# Children do not need them once the first admin exists.
_NOT_FOR_CHILDREN = ("PENSTOCK_ADMIN_PASSWORD", "PENSTOCK_ADMIN_PASSWORD_FILE")


@dataclass
class _Run:
    settings: Settings
    prepare: Prepare
    commands: Mapping[str, Sequence[str]]
    health_url: str | None
    say: Say
    server: EmbeddedPostgres | None
    children: list[KeptChild] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stop_now: asyncio.Event = field(default_factory=asyncio.Event)


async def run_up(
    settings: Settings,
    *,
    prepare: Prepare,
    commands: Mapping[str, Sequence[str]] | None = None,
    health_url: str | None = "",
    say: Say | None = None,
) -> int:
    """Runs until a signal; the exit code. `health_url=None` waits for no answer."""
    chosen = default_commands(settings) if commands is None else commands
    url = f"{base_url(settings.host, settings.port)}/health" if health_url == "" else health_url
    server = None if settings.database_url else EmbeddedPostgres(settings.data_dir)
    run = _Run(settings, prepare, chosen, url, say or _say, server)
    with ExitStack() as stack:
        _listen_for_signals(run, stack)
        try:
            if server:
                server.acquire()
            require_free_port(settings.host, settings.port)
            await _until_stopped(run, stack)
        except SupervisorError as error:
            print(f"penstock: {error}", file=sys.stderr, flush=True)
            return 1
        finally:
            patience_s = settings.shutdown_ms / 1000 + _CLOSING_S
            await stop_all(run.children, run.stop_now, patience_s, run.say)
            if server:
                await server.stop()
    run.say("Stopped.")
    return 0


def default_commands(settings: Settings) -> dict[str, list[str]]:
    workers = {f"worker {n}": penstock_command("worker") for n in range(1, settings.workers + 1)}
    return {"api": penstock_command("api"), **workers}


def _say(line: str) -> None:
    print(line, flush=True)


def _listen_for_signals(run: _Run, stack: ExitStack) -> None:
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if run.stopping.is_set():
            run.stop_now.set()
        else:
            run.say("Stopping … (once more to stop at once)")
            run.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Under nohup, the closing terminal is meant to be ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, on_signal)
            stack.callback(loop.remove_signal_handler, number)


async def _until_stopped(run: _Run, stack: ExitStack) -> None:
    work = asyncio.create_task(_serve(run, stack))
    stop = asyncio.create_task(run.stopping.wait())
    try:
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
    if not work.cancelled():
        _raise_first(work.exception())


def _raise_first(error: BaseException | None) -> None:
    """Raise the error of a task itself, without the group that the task group wraps it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is not None:
        raise error


async def _serve(run: _Run, stack: ExitStack) -> None:
    began = monotonic()
    addresses = await _database(run)
    run.say(f"PostgreSQL is ready ({monotonic() - began:.1f} s)")
    first_steps = await run.prepare(addresses)
    output = _children_output(run.settings, stack)
    env = child_environment(run.settings)
    run.children = [KeptChild(name, argv, env, output) for name, argv in run.commands.items()]
    async with asyncio.TaskGroup() as group:
        if run.server:
            group.create_task(keep_postgres(run.server, run.say))
        for child in run.children:
            group.create_task(child.keep_running(run.say))
        try:
            await _until_healthy(run, output)
        except BaseException:
            # They may contain the first password, which is shown only once.
            _print_lines(run, first_steps)
            raise
        _announce(run, first_steps, output, monotonic() - began)


async def _database(run: _Run) -> Addresses:
    if run.server is None:
        url = (run.settings.database_url or SecretStr("")).get_secret_value()
        return Addresses(url, url)
    await run.server.start()
    return Addresses(run.server.owner_dsn, run.server.api_dsn)


def _children_output(settings: Settings, stack: ExitStack) -> IO[bytes] | None:
    """At a terminal the children write to a file; a container's log gets everything."""
    if not sys.stdout.isatty():
        return None
    log = settings.data_dir / "penstock.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    rotate_log(log)
    fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return stack.enter_context(os.fdopen(fd, "ab"))


def child_environment(settings: Settings) -> dict[str, str]:
    """The environment of children, with all settings of this process, however they were set."""
    env = dict(os.environ)
    always = {"data_dir", "host", "port"}
    for name in always | settings.model_fields_set:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        elif isinstance(value, tuple):
            value = ",".join(value)
        if value is not None:
            env[f"PENSTOCK_{name.upper()}"] = str(value)
    return {name: value for name, value in env.items() if name not in _NOT_FOR_CHILDREN}


async def _until_healthy(run: _Run, output: IO[bytes] | None) -> None:
    if run.health_url is None:
        return
    deadline = monotonic() + _HEALTH_S
    first = run.children[0] if run.children else None
    while not await answers_ok(run.health_url):
        if (first and first.ends >= _TRIES_BEFORE_HEALTHY) or monotonic() > deadline:
            where = f" See {output.name}." if output else ""
            raise StartFailed(f"The API does not answer at {run.health_url}.{where}")
        await asyncio.sleep(0.05)


def _print_lines(run: _Run, lines: Sequence[str]) -> None:
    for line in lines:
        run.say(line)


def _announce(
    run: _Run, first_steps: Sequence[str], output: IO[bytes] | None, took_s: float
) -> None:
    settings = run.settings
    run.say(f"Penstock is up ({took_s:.1f} s): {base_url(settings.host, settings.port)}")
    _print_lines(run, first_steps)
    if settings.admin_key_file.exists():
        run.say(f"Key file:  {settings.admin_key_file}")
    if output:
        run.say(f"Log:       {settings.data_dir / 'penstock.log'}")
        run.say("Ctrl-C stops it.")
