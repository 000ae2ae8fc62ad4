"""Child processes that end when the process that started them ends."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

PARENT_FD = "PENSTOCK_PARENT_FD"
_PR_SET_PDEATHSIG = 1
_SECOND_SIGNAL_S = 0.2
# Loaded here: between fork and exec nothing may import or take the loader's lock.
LIBC = ctypes.CDLL(None, use_errno=True)


def penstock_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def die_with_parent(death_signal: int, parent: int) -> None:
    """Call in the child, last before exec: the kernel forgets it whenever credentials change.

    The signal follows the *thread* that forked, so children must be started from a thread
    that lives as long as the process, never from an executor.
    """
    if sys.platform != "linux":
        return
    LIBC.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        # The parent died before the request was made; no signal would ever come.
        os._exit(1)


class Child:
    """A running process, and a pipe whose end tells it that this process has ended."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        read_end, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                list(argv),
                env={**(os.environ if env is None else env), PARENT_FD: str(read_end)},
                pass_fds=(read_end,),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_tied_to(os.getpid()),
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(read_end)
        self.started = time.monotonic()

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        code = self._process.poll()
        if code is not None:
            self._close_lifeline()
        return code

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def _close_lifeline(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


def _tied_to(parent: int) -> Callable[[], None]:
    def tie() -> None:
        die_with_parent(signal.SIGTERM, parent)

    return tie


def watch_parent(grace_s: float = 10.0) -> bool:
    """In a child: stop when the supervisor ends. False if no supervisor started this process."""
    fd_text = os.environ.pop(PARENT_FD, "")
    if not fd_text.isdigit():
        return False
    # Our own children must not hold or misread this descriptor.
    os.set_inheritable(int(fd_text), False)
    threading.Thread(
        target=_stop_at_end_of, args=(int(fd_text), grace_s), name="watch-parent", daemon=True
    ).start()
    return True


def _stop_at_end_of(fd: int, grace_s: float) -> None:
    while os.read(fd, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    # The second signal makes a worker release its leases at once. Without its supervisor, neither
    # this process nor its database is restarted, and the next worker should find the items free.
    time.sleep(_SECOND_SIGNAL_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    os.kill(os.getpid(), signal.SIGKILL)
