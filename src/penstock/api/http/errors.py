"""Errors as RFC 9457 problems. One table maps codes to statuses."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.model.errors import BadInput, NotThere, PenstockError, TransientError, Unavailable
from penstock.model.text.redaction import redacted, redacted_values
from penstock.model.text.wrong_input import field_of, reasons_by_field
from penstock.store.errors import DiskFullError

STATUSES = {
    "INVALID_JSON": 400,
    "BAD_MULTIPART": 400,
    "BODY_INCOMPLETE": 400,
    "INVALID_CURSOR": 400,
    "INVALID_SORT": 400,
    "INVALID_IDEMPOTENCY_KEY": 400,
    "UNSUPPORTED_VERSION": 400,
    "BAD_REQUEST": 400,
    "BAD_CHECKSUM_HEADER": 400,
    "AUTHENTICATION_FAILED": 401,
    "INSUFFICIENT_PERMISSIONS": 403,
    "INSTALL_REFUSED": 403,
    "CSRF_FAILED": 403,
    "WRONG_PASSWORD": 403,
    "NOT_FOUND": 404,
    "FILE_NOT_FOUND": 404,
    "RESOURCE_NOT_FOUND": 404,
    "FEATURE_DISABLED": 404,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TIMEOUT": 408,
    "IDEMPOTENCY_CONFLICT": 409,
    "INVALID_STATE": 409,
    "SANDBOX_NOT_RUNNING": 409,
    "ALREADY_EXISTS": 409,
    "OFFSET_MISMATCH": 409,
    "UNSUPPORTED_TUS_VERSION": 412,
    "FILE_TOO_LARGE": 413,
    "BODY_TOO_LARGE": 413,
    "UNSUPPORTED_TYPE": 415,
    "UPLOAD_BUSY": 423,
    "URL_UNREACHABLE": 424,
    "API_RATE_LIMIT": 429,
    "QUOTA_EXCEEDED": 429,
    "RATE_LIMITED": 429,
    "TOO_MANY_AT_ONCE": 429,
    "HEADERS_TOO_LARGE": 431,
    "CHECKSUM_MISMATCH": 460,
    "INTERNAL_ERROR": 500,
    "PICTURE_UNAVAILABLE": 502,
    "PLACE_FAILED": 502,
    "PROVIDER_FAILED": 502,
    "PREVIEW_TIMEOUT": 504,
    "STORAGE_FULL": 507,
    "STORAGE_QUOTA_EXCEEDED": 507,
}
# Other errors are caused by the input, or are temporary.
_PERMANENT, _TRANSIENT = 422, 503
_RETRY_SECONDS = 5
MOST_PROBLEMS = 20
_PARAMETER = re.compile(r"\{[^{}]++\}")
# PostgreSQL cannot even start where its log of changes has no room for another segment.
_LEAST_DISK_BYTES = 32 * 1024 * 1024


def status_of(error: PenstockError) -> int:
    return STATUSES.get(error.code, _TRANSIENT if isinstance(error, TransientError) else _PERMANENT)


def problem(
    request: Request, error: PenstockError, headers: Mapping[str, str] | None = None
) -> Response:
    status = status_of(error)
    sent = dict(headers or {})
    if status == 401:
        sent["WWW-Authenticate"] = 'Bearer realm="penstock"'
    if status in (423, 424, 429, 503, 507):
        wait_ms = error.retry_after_ms or _RETRY_SECONDS * 1000
        sent["Retry-After"] = str(math.ceil(wait_ms / 1000))
    body = problem_of(error, quote(request.scope["path"]), request.state.request_id)
    return Response(body, status, sent, media_type="application/problem+json")


def problem_of(error: PenstockError, instance: str, request_id: str) -> bytes:
    status, message = status_of(error), redacted(error.message)
    body = {
        "type": f"urn:penstock:error:{error.code}",
        "title": _title(status),
        "status": status,
        "detail": message,
        "instance": redacted(instance),
        "error": {
            "code": error.code,
            "message": message,
            "category": error.category,
            "source": "api",
            "details": redacted_values(error.details),
        },
        "timestamp": datetime.now(UTC),
        "requestId": request_id,
    }
    return orjson.dumps(body, default=str, option=orjson.OPT_UTC_Z)


def _title(status: int) -> str:
    # tus has one of its own.
    return "Checksum Mismatch" if status == 460 else HTTPStatus(status).phrase


def invalid(problems: Sequence[Any]) -> BadInput:
    """The first problem that pydantic found in a request; unknown fields come first."""
    for one in problems:
        if one["type"] == "extra_forbidden":
            return unknown_field(field_of(one)[:300])
    reasons = reasons_by_field(problems[:MOST_PROBLEMS])
    shown = [{"field": field, "message": reason} for field, reason in reasons.items()]
    first = shown[0]
    where = f"{first['field']}: " if first["field"] else ""
    return BadInput("INVALID_PARAMETERS", f"{where}{first['message']}", problems=shown)


def unknown_field(name: str) -> BadInput:
    return BadInput("UNKNOWN_FIELD", f"There is no field {name!r} here.", field=name)


def handle_errors(app: FastAPI) -> None:
    """Errors with a code become problems; the middleware handles all others."""
    app.add_exception_handler(PenstockError, _named)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _routing)
    app.add_exception_handler(DiskFullError, _disk_full)
    for kind in TRANSIENT_DB_ERRORS:
        app.add_exception_handler(kind, _database_away)


async def _named(request: Request, error: Exception) -> Response:
    assert isinstance(error, PenstockError)
    return problem(request, error)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # The first part of a location (query, path) was not written by the client.
    return problem(request, invalid([{**one, "loc": one["loc"][1:]} for one in error.errors()]))


async def _routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    named: PenstockError
    if error.status_code == 405:
        allowed = ", ".join(_methods_at(request))
        told = f"{request.method[:20]} is not possible here. Possible: {allowed}."
        return problem(request, BadInput("METHOD_NOT_ALLOWED", told), {"Allow": allowed})
    elif error.status_code == 404:
        named = NotThere("NOT_FOUND", "There is nothing at this address.")
    else:
        named = BadInput("INVALID_PARAMETERS", str(error.detail))
    return problem(request, named, error.headers)


def _methods_at(request: Request) -> list[str]:
    """All methods of the address: the router names only those of the first matching route."""
    path, paths = request.scope["path"], request.app.openapi()["paths"]
    fitting = [one for one in paths if re.fullmatch(_PARAMETER.sub("[^/]+", one), path)]
    # `/items/fix` is not an item named `fix`.
    literal = min((one.count("{") for one in fitting), default=0)
    known = {
        method.upper() for one in fitting if one.count("{") == literal for method in paths[one]
    }
    return sorted(known) or ["GET"]


async def _database_away(request: Request, error: Exception) -> Response:
    runtime = request.app.state.api.runtime
    runtime.log.warning("database is not available", error=repr(error))
    if runtime.settings.database_url is None and _is_full(runtime.settings.data_dir):
        return problem(request, _no_space())
    away = Unavailable("DB_UNAVAILABLE", "The database does not answer. Try again soon.")
    return problem(request, away)


async def _disk_full(request: Request, error: Exception) -> Response:
    request.app.state.api.runtime.log.error("the database's disk is full", error=repr(error))
    return problem(request, _no_space())


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LEAST_DISK_BYTES
    except OSError:
        return False


def _no_space() -> TransientError:
    return TransientError(
        "STORAGE_FULL",
        "There is no space left on the server's disk. Nothing was kept: once there is space again,"
        " send the same request.",
    )
