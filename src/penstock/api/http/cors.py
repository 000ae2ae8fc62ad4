"""What pages of other origins may do, if the settings name any: everything but use cookies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.api.http.versions import HEADER

_MAY_SEND = (
    *("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-Id", HEADER),
    *("Tus-Resumable", "Upload-Length", "Upload-Metadata", "Upload-Offset", "Upload-Checksum"),
)
_MAY_READ = (
    *("Location", "Content-Disposition", "Retry-After", "X-Request-Id", HEADER),
    *("Idempotency-Replayed", "Deprecation", "Sunset", "Link"),
    *("Tus-Resumable", "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm"),
    *("Upload-Length", "Upload-Offset", "Upload-Expires"),
)


def cross_origin(origins: Sequence[str]) -> dict[str, Any]:
    return {
        "allow_origins": list(origins),
        "allow_methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        "allow_headers": list(_MAY_SEND),
        "expose_headers": list(_MAY_READ),
        "max_age": 600,
    }
