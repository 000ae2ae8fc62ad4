"""The errors of each call: those that follow from its parameters, and its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_JSON_BODY = ("INVALID_JSON", "BODY_TOO_LARGE", "UNKNOWN_FIELD", "INVALID_PARAMETERS")
_QUOTA = "STORAGE_QUOTA_EXCEEDED"
_FORM = (_QUOTA, "BAD_MULTIPART", "FILE_TOO_LARGE", "BAD_FILENAME", "BLOB_UNAVAILABLE")
_BODY = ("BODY_INCOMPLETE", "REQUEST_TIMEOUT")
_KEYED = ("INVALID_IDEMPOTENCY_KEY", "IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_MISMATCH")

_JOB = (
    *("FILE_NOT_FOUND", "UNSUPPORTED_TYPE", "EMPTY_FILE", "NO_ROWS", "INVALID_CONFIG"),
    *("PATH_NOT_ALLOWED", "QUEUE_FULL", "BLOB_UNAVAILABLE", "INVALID_PARAMETERS"),
    "MAPPING_NEEDED",
)
_URL = ("URL_NOT_ALLOWED", "URL_REFUSED", "URL_UNREACHABLE")
_TUS = ("UNSUPPORTED_TUS_VERSION", "UPLOAD_BUSY", "UNSUPPORTED_TYPE")
_PIECE = (
    *("FILE_TOO_LARGE", "CHECKSUM_MISMATCH", "BAD_CHECKSUM_HEADER", "INVALID_PARAMETERS"),
    *("OFFSET_MISMATCH", "BLOB_UNAVAILABLE"),
)
_NO_SEAL = "SECRET_KEY_MISSING"
_STATE = ("INVALID_STATE",)
# Errors of the job that a schedule submits.
_ACTION = ("INVALID_CONFIG", "URL_NOT_ALLOWED", "NOT_FOUND", "UNKNOWN_FIELD")
# By operation id.
OWN: dict[str, tuple[str, ...]] = {
    "beginUpload": (*_TUS, *_PIECE, "BAD_FILENAME", _QUOTA),
    "askOffset": (*_TUS, "BLOB_UNAVAILABLE"),
    "showUpload": ("UPLOAD_BUSY", "UNSUPPORTED_TYPE", "BLOB_UNAVAILABLE"),
    "continueUpload": (*_TUS, *_PIECE, _QUOTA),
    "giveUpUpload": _TUS,
    "downloadFile": ("FILE_NOT_FOUND", "BLOB_UNAVAILABLE"),
    "createJob": (*_JOB, *_URL, "QUOTA_EXCEEDED"),
    "previewJob": (*_JOB, *_URL, "PREVIEW_TIMEOUT"),
    "createExtractionJob": _JOB,
    "createRun": (*_JOB, _QUOTA),
    "importProducts": (*_JOB, "NOT_FOUND", _NO_SEAL),
    "abortRun": _STATE,
    "previewCrawl": (
        *(*_URL, "FETCH_TOO_LARGE", "UNSUPPORTED_TYPE", "ROBOTS_DISALLOWED", "PAGE_UNREADABLE"),
        *("PREVIEW_TIMEOUT", "INVALID_CONFIG"),
    ),
    "showRawPage": ("FILE_NOT_FOUND",),
    "cloneJob": _JOB,
    "pauseJob": _STATE,
    "resumeJob": _STATE,
    "cancelJob": _STATE,
    "setPriority": _STATE,
    "reprocess": _STATE,
    "exportJob": _STATE,
    "kickoffJob": _STATE,
    "undoJob": _STATE,
    "fixItem": (*_STATE, "INVALID_CONFIG"),
    "remapJob": (*_STATE, "INVALID_CONFIG"),
    "editItems": _STATE,
    "saveTemplate": _STATE,
    "decideJobLinks": ("INVALID_CURSOR",),
    "rememberValue": (*_STATE, "INVALID_PARAMETERS"),
    "undoEdit": _STATE,
    "decideLinks": ("NOT_FOUND", "INVALID_PARAMETERS"),
    "editProduct": (*_STATE, "INVALID_PARAMETERS"),
    "undoProductEdit": _STATE,
    "chooseItemCandidate": _STATE,
    "enrichProducts": (*_STATE, *_JOB),
    "acceptProposals": _STATE,
    "refuseProposals": _STATE,
    "listItems": ("INVALID_SORT",),
    "listPending": ("FEATURE_DISABLED",),
    "retryWaiting": ("FEATURE_DISABLED",),
    "saveProfile": ("UNSUPPORTED_TYPE", "INVALID_CONFIG", "RESOURCE_NOT_FOUND"),
    "abortOperation": _STATE,
    "reprocessLetter": (*_STATE, *_JOB),
    "reprocessLetters": ("INVALID_CURSOR",),
    "discardLetters": ("INVALID_CURSOR",),
    "discardLetter": _STATE,
    "changePassword": ("WRONG_PASSWORD", "WEAK_PASSWORD"),
    "createUser": ("ALREADY_EXISTS", "RESOURCE_NOT_FOUND", "WEAK_PASSWORD", _NO_SEAL),
    "createKey": (_NO_SEAL, "NOT_FOUND"),
    "resetPassword": ("WEAK_PASSWORD",),
    "showPicture": (
        *("URL_NOT_ALLOWED", "FETCH_TOO_LARGE", "PICTURE_UNREADABLE"),
        *("PICTURE_UNAVAILABLE", "PICTURE_BUSY", "BLOB_UNAVAILABLE"),
    ),
    "listProducts": ("RESOURCE_NOT_FOUND",),
    "exportProducts": ("RESOURCE_NOT_FOUND", "NOT_FOUND"),
    "changeUser": _STATE,
    "listAudit": ("RESOURCE_NOT_FOUND",),
    "showOrg": ("RESOURCE_NOT_FOUND",),
    "changeOrg": ("RESOURCE_NOT_FOUND",),
    "createOrg": ("ALREADY_EXISTS",),
    "startOperation": ("RESOURCE_NOT_FOUND",),
    "listWebhooks": ("RESOURCE_NOT_FOUND",),
    "createWebhook": (*_STATE, "URL_NOT_ALLOWED", "RESOURCE_NOT_FOUND", _NO_SEAL),
    "listConnections": ("RESOURCE_NOT_FOUND",),
    "createConnection": (*_STATE, "URL_NOT_ALLOWED", "RESOURCE_NOT_FOUND", _NO_SEAL),
    "rotateConnection": ("PROVIDER_FAILED", "API_RATE_LIMIT", "CIRCUIT_OPEN", _NO_SEAL),
    "testConnection": (_NO_SEAL,),
    "browseConnection": (
        *("PROVIDER_FAILED", "API_RATE_LIMIT", "CIRCUIT_OPEN", _NO_SEAL, "INVALID_CURSOR"),
    ),
    "receiveShopWebhook": (
        *("AUTHENTICATION_FAILED", "BODY_TOO_LARGE", "INVALID_JSON", "SERVER_BUSY"),
        *("QUEUE_FULL", _NO_SEAL, *_BODY),
    ),
    "connectDemo": (*_STATE, "FEATURE_DISABLED", "SANDBOX_NOT_RUNNING", _NO_SEAL),
    "beginInstall": ("URL_NOT_ALLOWED", "RESOURCE_NOT_FOUND", _NO_SEAL),
    "completeInstall": (*_STATE, "INSTALL_REFUSED", "PROVIDER_FAILED", _NO_SEAL),
    "createSource": (*_STATE, "INVALID_CONFIG", "RESOURCE_NOT_FOUND", _NO_SEAL),
    "addDemoSources": (
        *(*_STATE, "INVALID_CONFIG", "FEATURE_DISABLED", "SANDBOX_NOT_RUNNING", _NO_SEAL),
    ),
    "changeSource": (*_STATE, "INVALID_CONFIG", _NO_SEAL),
    "testSource": (_NO_SEAL,),
    "createWatcher": (*_STATE, "INVALID_CONFIG", "URL_NOT_ALLOWED", "PLACE_FAILED", _NO_SEAL),
    "changeWatcher": ("INVALID_CONFIG",),
    "rotateWatcher": ("URL_NOT_ALLOWED", "PLACE_FAILED", _NO_SEAL),
    "testWatcher": (_NO_SEAL,),
    "retryWatchedFile": _STATE,
    "scanNow": ("NOT_FOUND", _NO_SEAL),
    "createResearch": (*_JOB, "QUOTA_EXCEEDED", "URL_NOT_ALLOWED"),
    "createFeed": (*_STATE, "RESOURCE_NOT_FOUND", _NO_SEAL),
    "changeFeed": _STATE,
    "rotateFeed": (_NO_SEAL,),
    "buildFeed": ("BLOB_UNAVAILABLE",),
    "fetchFeed": ("RATE_LIMITED", "BLOB_UNAVAILABLE"),
    "createSchedule": (*_STATE, *_ACTION, "RESOURCE_NOT_FOUND"),
    "changeSchedule": (*_STATE, *_ACTION),
    "pauseSchedule": _STATE,
    "resumeSchedule": _STATE,
    "showRequestSecret": (_NO_SEAL,),
    "rotateSecret": (_NO_SEAL,),
    "changeWebhook": (*_STATE, "URL_NOT_ALLOWED"),
    "testWebhook": _STATE,
    "createTarget": (*_STATE, "URL_NOT_ALLOWED", "RESOURCE_NOT_FOUND", _NO_SEAL),
    "redeliver": _STATE,
    "createSession": ("AUTHENTICATION_FAILED", "RATE_LIMITED", "UNSUPPORTED_TYPE"),
}

MEANINGS = {
    "ALREADY_EXISTS": "There is one of that name already.",
    "API_RATE_LIMIT": "Too many requests. Wait as long as `Retry-After` says.",
    "AUTHENTICATION_FAILED": "No key, or one that is unknown, revoked or expired.",
    "BAD_CHECKSUM_HEADER": "`Upload-Checksum` cannot be read.",
    "BAD_FILENAME": "The file has no name, or one with a path, control characters or too long.",
    "BAD_MULTIPART": "The form is broken, or has a part too many.",
    "BAD_REQUEST": "This is no HTTP request.",
    "BLOB_UNAVAILABLE": "Files cannot be stored at the moment.",
    "BODY_INCOMPLETE": "The body ended early.",
    "BODY_TOO_LARGE": "JSON of more than 1 MiB. Rows belong into a file.",
    "CHECKSUM_MISMATCH": "The bytes are not those of `Upload-Checksum`; none were kept.",
    "CIRCUIT_OPEN": "The provider failed several times in a row and is not called for now.",
    "CSRF_FAILED": "A change made with a session came without its token.",
    "DB_UNAVAILABLE": "The database does not answer. Try again.",
    "EMPTY_FILE": "The file is empty.",
    "FEATURE_DISABLED": "The operator has not switched this on.",
    "FETCH_TOO_LARGE": "What lies at the address is larger than what is fetched.",
    "FILE_NOT_FOUND": "There is no such file, or it is someone else's.",
    "FILE_TOO_LARGE": "More than `PENSTOCK_MAX_FILE_BYTES`, or than the upload announced.",
    "HEADERS_TOO_LARGE": "Address and headers of more than 64 KiB.",
    "IDEMPOTENCY_CONFLICT": "A request with this key is still under way.",
    "IDEMPOTENCY_MISMATCH": "The key was used for another request.",
    "INSTALL_REFUSED": "The answer of the install flow is not valid, expired or of another user.",
    "INSUFFICIENT_PERMISSIONS": "Your role may not do this.",
    "INTERNAL_ERROR": "A bug on our side; the log tells more under the request's id.",
    "INVALID_CONFIG": "The pipeline does not take this configuration.",
    "INVALID_CURSOR": "`after` is no cursor of this list.",
    "INVALID_IDEMPOTENCY_KEY": "Not 1 to 255 printable characters.",
    "INVALID_JSON": "No JSON, or JSON that means several things: doubled keys, NaN, NUL.",
    "INVALID_PARAMETERS": "A parameter or a field has a value that cannot be.",
    "INVALID_SORT": "This order does not go with the other parameters.",
    "INVALID_STATE": "What it is about is in no state for this.",
    "METHOD_NOT_ALLOWED": "The address knows other methods.",
    "NOT_FOUND": "There is nothing there, or it is someone else's.",
    "NO_ROWS": "The file has a header and nothing else.",
    "OFFSET_MISMATCH": "The upload is at another place; `error.details.offset` says where.",
    "PAGE_UNREADABLE": "The page is more than the extractor can take.",
    "PATH_NOT_ALLOWED": "The path is in no folder that is open to you, or leads through a link.",
    "PICTURE_BUSY": "More pictures are asked for than can be fetched. Try again.",
    "PICTURE_UNAVAILABLE": "The server that the picture lies on does not give it out.",
    "PICTURE_UNREADABLE": "What lies at the picture's address cannot be shown as one.",
    "PLACE_FAILED": "The watched place cannot be read; `details.cause` is the code of its error.",
    "PREVIEW_TIMEOUT": "The preview took too long, or waited too long for its turn.",
    "PROVIDER_FAILED": "The shop refused or failed; `details.cause` is the code of its error.",
    "QUEUE_FULL": "No more jobs are taken for now. Wait as long as `Retry-After` says.",
    "QUOTA_EXCEEDED": "The requests of this day or month are used up; `details.resetsAt` says until"
    " when.",
    "RATE_LIMITED": "Too many requests or tries. Wait as long as `Retry-After` says.",
    "RESOURCE_NOT_FOUND": "What the request names is not there.",
    "REQUEST_TIMEOUT": "The headers or the body came too slowly.",
    "ROBOTS_DISALLOWED": "The site's robots.txt does not allow this page.",
    "SANDBOX_NOT_RUNNING": "No sandbox answers at `PENSTOCK_SANDBOX_URL`.",
    "SECRET_KEY_MISSING": "This server has no key to seal secrets with: `PENSTOCK_SECRET_KEY`.",
    "SERVER_BUSY": "The server does as much of this kind as it can. Try again.",
    "STORAGE_FULL": "The server's disk is full.",
    "STORAGE_QUOTA_EXCEEDED": "The org has no room for another file, or too many open uploads.",
    "TOO_MANY_AT_ONCE": "Too much of this kind is under way for you or your org already.",
    "UNKNOWN_FIELD": "There is no field or parameter of this name.",
    "UNSUPPORTED_TUS_VERSION": "`Tus-Resumable` must be 1.0.0.",
    "MAPPING_NEEDED": "No column names products; `details.candidates` may.",
    "UNSUPPORTED_TYPE": "The body or the file is of a type that is not taken here.",
    "UNSUPPORTED_VERSION": "There is no such `Penstock-Version`.",
    "UPLOAD_BUSY": "Another request is writing to this upload.",
    "URL_NOT_ALLOWED": "The address is not one that may be called from here.",
    "URL_REFUSED": "The server behind the URL answered something else than the file.",
    "URL_UNREACHABLE": "The server behind the URL does not answer, is too slow or fails.",
    "WEAK_PASSWORD": "Too short, or too easy to guess.",
    "WRONG_PASSWORD": "The present password is another one.",
}


def codes_of(path: str, method: str, operation: dict[str, Any]) -> set[str]:
    """The codes of one operation of the document."""
    codes = {*OWN.get(operation["operationId"], ()), "UNSUPPORTED_VERSION", "INTERNAL_ERROR"}
    if path == "/health":
        return codes
    codes.add("DB_UNAVAILABLE")
    if "security" in operation:
        codes |= {"AUTHENTICATION_FAILED", "INSUFFICIENT_PERMISSIONS", "RATE_LIMITED"}
        codes |= {"TOO_MANY_AT_ONCE", "SERVER_BUSY"}
        if method not in ("get", "head", "options"):
            codes.add("CSRF_FAILED")
    if method not in ("get", "head", "options"):
        codes.add("STORAGE_FULL")
    return codes | set(_by_parameters(operation)) | set(_by_body(operation))


def _by_parameters(operation: dict[str, Any]) -> Iterator[str]:
    for one in operation.get("parameters", ()):
        match one.get("in"), one.get("name"):
            case "path", _:
                yield from ("NOT_FOUND", "INVALID_PARAMETERS")
            case "query", name:
                yield from ("INVALID_PARAMETERS", "UNKNOWN_FIELD")
                if name in ("after", "since"):
                    yield "INVALID_CURSOR"
                if name == "org":
                    yield "RESOURCE_NOT_FOUND"
            case "header", "Idempotency-Key":
                yield from _KEYED


def _by_body(operation: dict[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if content:
        yield from _BODY
    if "application/json" in content:
        yield from _JSON_BODY
    if "multipart/form-data" in content:
        yield from (*_FORM, "UNKNOWN_FIELD", "INVALID_PARAMETERS", "UNSUPPORTED_TYPE")
