"""Child processes with limits on memory and time, kept for reuse.

    call()    one function, one answer
    stream()  one generator, its values one by one; the child stays at most two ahead

A child that is cancelled, slow, dead or out of memory is never reused.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Sequence,
)
from pathlib import Path
from typing import Any

import psutil

from penstock.guards.answers import NotAnAnswer, decode, decode_error
from penstock.guards.child import CALL, END, ERROR, FRAME, MORE, STOP, STREAM, frame, import_modules
from penstock.guards.child_folders import ChildFolder, ChildFolders
from penstock.guards.fair_slots import FairSlots
from penstock.model.cpu.meter import charge_outside
from penstock.model.errors import ChildCrashed, PermanentError
from penstock.model.ports import InputFile

USES_PER_CHILD = 10_000
# A child that keeps more than this share of its memory limit after a call is replaced.
RESIDENT_SHARE = 0.5
SECONDS_TO_STOP = 1.0
# The parent's sys.path is passed on, so that a child can import the same modules.
BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(':');"
    "from penstock.guards.child import main; main(*sys.argv[2:])"
)


class ChildPool:
    """At most ``streams`` children that stream and ``calls`` that answer calls: a worker has a
    core of its own, and more callers at once would only take memory."""

    def __init__(
        self,
        memory_bytes: int,
        cpu_seconds: int,
        *,
        streams: int = 1,
        calls: int = 1,
        wall_seconds: float = 120,
        folder: Path | None = None,
        hidden: Sequence[Path] = (),
    ) -> None:
        """``folder``: where children have their own folders, best on the disk of the files they
        read. ``hidden`` is never read by them."""
        self._places = ChildFolders(folder)
        self._hidden = tuple(hidden)
        self._memory_bytes = memory_bytes
        self._resident_bytes = RESIDENT_SHARE * memory_bytes
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._streams = FairSlots(streams)
        self._calls = FairSlots(calls)
        self._idle: list[_Child] = []
        # Modules that children import in advance.
        self._modules: set[str] = set()
        self._all: set[_Child] = set()
        self._closed = False

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function in a child; its exceptions are raised here."""
        return await self.call_for(None, function, args)

    def stream(
        self, function: Callable[..., Iterator[Any]], *args: Any
    ) -> AsyncGenerator[Any, None]:
        """The values of a generator in a child. Close it when leaving early, to free the child."""
        return self.stream_for(None, function, args)

    def for_owner(self, owner: Hashable) -> OwnedChildren:
        """The same children, shared fairly among owners: no owner can hold all."""
        return OwnedChildren(self, owner)

    async def call_for(
        self, owner: Hashable, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        async with self._calls.slot(owner), self._borrow(owner, function) as child:
            with child.charged():
                await child.request(CALL, function, args)
                return (await child.receive())[1]

    async def stream_for(
        self, owner: Hashable, function: Callable[..., Iterator[Any]], args: tuple[Any, ...]
    ) -> AsyncGenerator[Any, None]:
        async with self._streams.slot(owner), self._borrow(owner, function) as child:
            await child.request(STREAM, function, args)
            # The next value is fetched while the consumer works on the current one.
            coming = asyncio.create_task(child.receive())
            try:
                while True:
                    kind, value = await coming
                    if kind == END:
                        return
                    coming = asyncio.create_task(child.receive())
                    yield value
                    await child.send(frame(MORE))
            except GeneratorExit:
                await _stop(child, coming)
                raise
            finally:
                # No read may be pending when the connection is closed or reused.
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)

    def prepare(self, modules: Iterable[str]) -> None:
        """Start a child that imports these modules, so that the first call need not wait for
        them."""
        self._modules.update(modules)
        if not self._all and not self._closed:
            self._replace()

    async def close(self) -> None:
        """End all children; running calls fail."""
        self._closed = True
        for child in self._idle:
            child.end()
        self._idle.clear()
        children, self._all = self._all, set()
        for child in children:
            child.process.kill()
        await asyncio.to_thread(lambda: [child.process.wait() for child in children])
        for child in children:
            child.folder.remove()

    @contextlib.asynccontextmanager
    async def _borrow(self, owner: Hashable, function: Callable[..., Any]) -> AsyncIterator[_Child]:
        self._modules.add(function.__module__)
        child = self._take(owner)
        try:
            if child.importing is not None:
                # A caller that gives up must not end a child that is about to be ready.
                await asyncio.shield(child.importing)
            yield child
        finally:
            self._give_back(child)

    def _take(self, owner: Hashable) -> _Child:
        if self._closed:
            raise RuntimeError("the pool of children is closed")
        while self._idle:
            child = self._choose_idle(owner)
            self._idle.remove(child)
            if child.process.poll() is None:
                child.owner = owner
                return child
            child.end()
        child = self._start()
        child.owner = owner
        return child

    def _choose_idle(self, owner: Hashable) -> _Child:
        """The idle child that worked for this owner last, else a new one. Children of other owners
        come last, the longest idle first: an owner whose children must be killed would take a
        running one from the others each time."""
        for child in reversed(self._idle):
            if child.owner == owner:
                return child
        return next((child for child in self._idle if not child.uses), self._idle[0])

    def _start(self) -> _Child:
        self._all = {child for child in self._all if child.process.poll() is None}
        child = _Child(
            self._memory_bytes,
            self._cpu_seconds,
            self._wall_seconds,
            self._places.make(),
            self._hidden,
        )
        self._all.add(child)
        return child

    def _give_back(self, child: _Child) -> None:
        if child.is_importing and not self._closed:
            self._idle.append(child)
            return
        child.uses += 1
        worn = child.uses >= USES_PER_CHILD
        if child.busy or self._closed or worn or child.resident() > self._resident_bytes:
            child.end()
            if len(self._all) > 1 and not self._closed:
                self._replace()
        else:
            child.folder.clear()
            self._idle.append(child)

    def _replace(self) -> None:
        """Start a child in advance. In place of one that has ended, so that its owner need not take
        the idle child of another."""
        child = self._start()
        child.importing = asyncio.create_task(child.import_modules(sorted(self._modules)))
        self._idle.append(child)


class OwnedChildren:
    """The children of a pool as used by one owner, such as an org."""

    def __init__(self, pool: ChildPool, owner: Hashable) -> None:
        self._pool = pool
        self._owner = owner

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        return await self._pool.call_for(self._owner, function, args)

    def stream(
        self, function: Callable[..., Iterator[Any]], *args: Any
    ) -> AsyncGenerator[Any, None]:
        return self._pool.stream_for(self._owner, function, args)

    def for_owner(self, owner: Hashable) -> OwnedChildren:
        return OwnedChildren(self._pool, owner)

    def prepare(self, modules: Iterable[str]) -> None:
        self._pool.prepare(modules)


class _Child:
    """One process and the connection to it. ``busy`` until the last answer has arrived."""

    def __init__(
        self,
        memory_bytes: int,
        cpu_seconds: int,
        wall_seconds: float,
        folder: ChildFolder,
        hidden: Sequence[Path],
    ) -> None:
        self.folder = folder
        self._most_bytes = memory_bytes // 4
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._line, remote = socket.socketpair()
        self._line.setblocking(False)
        numbers = (remote.fileno(), os.getpid(), memory_bytes, cpu_seconds)
        paths = (":".join(sys.path), str(folder.path), ":".join(map(str, hidden)))
        # Not in a helper thread: the kernel's death signal follows the thread that started a child.
        with remote:
            self.process = subprocess.Popen(
                [sys.executable, "-S", "-c", BOOT, *paths, *map(str, numbers)],
                pass_fds=[remote.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**_without_secrets(), "TMPDIR": str(folder.path / "tmp")},
                process_group=0,
            )
        self._figures = psutil.Process(self.process.pid)
        self.busy = False
        self.uses = 0
        self.owner: Hashable = None
        self.importing: asyncio.Task[None] | None = None

    @property
    def is_importing(self) -> bool:
        return self.importing is not None and not self.importing.done()

    async def import_modules(self, names: Sequence[str]) -> None:
        """Import modules in advance. A failure is reported by the first call."""
        with contextlib.suppress(Exception):
            await self.request(CALL, import_modules, (names,))
            await self.receive()

    async def request(
        self, kind: bytes, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        given = [
            await self.folder.take_in(arg) if isinstance(arg, InputFile) else arg for arg in args
        ]
        made = frame(kind, (function, tuple(given)))
        self.busy = True
        await self.send(made)

    async def send(self, data: bytes) -> None:
        # The death of a child is reported where its answer is awaited.
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_sendall(self._line, data)

    async def receive(self) -> tuple[bytes, Any]:
        """The next frame. Raises the function's exception, or ChildCrashed."""
        try:
            async with asyncio.timeout(self._wall_seconds):
                kind, length = FRAME.unpack(await self._exactly(FRAME.size))
                if length > self._most_bytes:
                    raise ChildCrashed(f"A child process answered with {length:,} bytes")
                content = await self._exactly(length)
        except TimeoutError:
            # Permanent: a retry would occupy another child for as long.
            raise PermanentError(
                "TOO_SLOW", f"The work took more than {self._wall_seconds:g} s"
            ) from None
        except (ConnectionError, EOFError):
            raise await self._why_it_died() from None
        try:
            value = decode_error(content) if kind == ERROR else decode(content)
        except NotAnAnswer as error:
            raise ChildCrashed(f"A child process gave no valid answer: {error}") from None
        if kind == END:
            self.busy = False
        elif kind == ERROR:
            # Memory may be fragmented now: the child stays busy and is not reused.
            self.busy = getattr(value, "code", None) == "TOO_LARGE_FOR_MEMORY"
            raise value
        return kind, value

    async def _exactly(self, length: int) -> bytearray:
        loop = asyncio.get_running_loop()
        content = bytearray(length)
        rest = memoryview(content)
        while rest:
            received = await loop.sock_recv_into(self._line, rest)
            if not received:
                raise EOFError
            rest = rest[received:]
        return content

    async def _why_it_died(self) -> Exception:
        status = await asyncio.to_thread(self.process.wait)
        if status == -signal.SIGXCPU:
            return PermanentError(
                "TOO_SLOW", f"The work took more than {self._cpu_seconds} s of processor time"
            )
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return ChildCrashed(f"A child process ended {how}")

    @contextlib.contextmanager
    def charged(self) -> Iterator[None]:
        """Charge the request for what the child uses meanwhile. Of a child that died only the
        elapsed time is known; most were killed because they used the processor for too long."""
        before, began = self._cpu_seconds_used(), time.monotonic()
        try:
            yield
        finally:
            after, elapsed = self._cpu_seconds_used(), time.monotonic() - began
            charge_outside(elapsed if before is None or after is None else after - before)

    def _cpu_seconds_used(self) -> float | None:
        try:
            times = self._figures.cpu_times()
        except psutil.NoSuchProcess:
            return None
        return float(times.user + times.system)

    def resident(self) -> int:
        try:
            return int(self._figures.memory_info().rss)
        except psutil.NoSuchProcess:
            return 0

    def end(self) -> None:
        self.process.kill()
        self._line.close()
        self.folder.remove()


async def _stop(child: _Child, coming: asyncio.Task[tuple[bytes, Any]]) -> None:
    """The consumer left early: let the generator close itself, or else kill the child."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(SECONDS_TO_STOP):
            await child.send(frame(STOP))
            while (await coming)[0] != END:
                coming = asyncio.create_task(child.receive())


def _without_secrets() -> dict[str, str]:
    """The environment without Penstock's settings, which children must not see."""
    return {name: text for name, text in os.environ.items() if not name.startswith("PENSTOCK_")}
