"""Any error as one line and an exit code. docs/howto/command-line.md documents the codes."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import ValidationError

from penstock.cli.output import OutputIncomplete
from penstock.client import ApiError, Unreachable
from penstock.model.errors import BadInput, NotAllowed, NotThere, PenstockError, Unavailable
from penstock.model.policy import category_of
from penstock.model.text.redaction import redacted
from penstock.model.text.wrong_input import reason_of
from penstock.store.database import CONNECTION_ERRORS
from penstock.store.errors import (
    InsufficientPrivilegeError,
    InvalidAuthorizationSpecificationError,
    InvalidCatalogNameError,
    UndefinedColumnError,
    UndefinedTableError,
)
from penstock.supervisor.errors import AlreadyRunning, PortTaken, SupervisorError

FAILURE, USAGE, ROWS_FAILED, NOT_FOUND, NO_ACCESS, INTERRUPTED = 1, 2, 3, 4, 5, 130

_BY_STATUS = {
    401: NO_ACCESS, 403: NO_ACCESS, 404: NOT_FOUND, 409: FAILURE, 429: NO_ACCESS, 503: NO_ACCESS,
}  # fmt: skip


# Permanent errors of jobs that are no fault of their input.
_FAILED = frozenset({"WORKER_CRASHED", "JOB_TIMEOUT", "CANCELLED"})
_REFUSALS_OF_OTHERS = {
    "FILE_NOT_FOUND": NOT_FOUND, "RESOURCE_NOT_FOUND": NOT_FOUND,
    "AUTHENTICATION_FAILED": NO_ACCESS, "INSUFFICIENT_PERMISSIONS": NO_ACCESS,
    "ACCOUNT_SUSPENDED": NO_ACCESS,
}  # fmt: skip


class CliError(Exception):
    """Ends the command with this code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def explain(error: BaseException) -> tuple[int, str]:
    """The exit code and the line to show."""
    code, line = _explain(error)
    return code, redacted(line)


def _explain(error: BaseException) -> tuple[int, str]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case CliError():
            return error.code, str(error)
        case PenstockError():
            return _code_of(error), _with_code(error.message, error.code)
        case ApiError() | Unreachable():
            return _of_the_api(error)
        case SupervisorError():
            busy = isinstance(error, AlreadyRunning | PortTaken)
            return FAILURE if busy else NO_ACCESS, str(error)
        case ValidationError():
            return USAGE, _setting_problem(error)
        case InvalidAuthorizationSpecificationError() | InvalidCatalogNameError():
            return NO_ACCESS, f"The database refuses us: {error}. Check PENSTOCK_DATABASE_URL."
        case UndefinedTableError() | UndefinedColumnError():
            return FAILURE, f"The database's schema is old ({error}): run `penstock migrate`."
        case InsufficientPrivilegeError():
            return NO_ACCESS, f"The database user lacks a right: {error}."
        case OSError() | UnicodeDecodeError():
            return _of_the_system(error)
        case _ if isinstance(error, CONNECTION_ERRORS):
            return NO_ACCESS, f"The database cannot be reached: {error}"
    return _unforeseen(error)


def _of_the_system(error: OSError | UnicodeDecodeError) -> tuple[int, str]:
    if isinstance(error, UnicodeDecodeError):
        return USAGE, "The file is not text in UTF-8: save it as UTF-8, and try again."
    match error:
        case FileNotFoundError() | PermissionError() | IsADirectoryError() if error.filename:
            return USAGE, f"{error.filename}: {error.strerror}."
        case BrokenPipeError():
            return FAILURE, "The output was closed before all of it was written."
        case OutputIncomplete():
            return FAILURE, f"The output could not be written completely: {error.strerror}."
        case _ if isinstance(error, CONNECTION_ERRORS):
            return NO_ACCESS, f"The database cannot be reached: {error}"
    return _unforeseen(error)


def _unforeseen(error: BaseException) -> tuple[int, str]:
    return FAILURE, f"{type(error).__name__}: {error} (`penstock --debug …` shows where)"


def _code_of(error: PenstockError) -> int:
    match error:
        case BadInput():
            return USAGE
        case NotThere():
            return NOT_FOUND
        case NotAllowed() | Unavailable():
            return NO_ACCESS
        case _:
            return FAILURE


def code_of_job_error(code: str) -> int:
    """For a command whose job failed: whether its input was refused, or something else failed."""
    if code in _REFUSALS_OF_OTHERS:
        return _REFUSALS_OF_OTHERS[code]
    return FAILURE if code in _FAILED or category_of(code) == "transient" else USAGE


def _of_the_api(error: ApiError | Unreachable) -> tuple[int, str]:
    if isinstance(error, Unreachable):
        return NO_ACCESS, f"{error} Is PENSTOCK_URL right, and the server up?"
    code = _BY_STATUS.get(error.status, USAGE if error.status < 500 else FAILURE)
    if error.status == HTTPStatus.UNAUTHORIZED:
        # The server's own words are for those who write HTTP requests.
        return code, (
            "The server does not accept the key. Set PENSTOCK_KEY to a valid API key, or"
            f" PENSTOCK_KEY_FILE to a file that holds one. [{error.code}]"
        )
    return code, _with_code(error.message, error.code)


def _with_code(message: str, code: str) -> str:
    """The message as a sentence, with its code for searches."""
    return f"{message}{'' if message.endswith(('.', '?', '!', '…')) else '.'} [{code}]"


def _setting_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    message = reason_of(first)
    if not first["loc"]:
        return f"{message}."
    return f"PENSTOCK_{str(first['loc'][0]).upper()}: {message}."
