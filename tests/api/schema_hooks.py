"""What schemathesis shall look at besides its own checks."""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, Response, SerializationContext


@schemathesis.check
def documented_code(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """A problem's code is one of those that the document tells of the operation."""
    kind = response.headers.get("content-type", [""])[0]
    if kind != "application/problem+json" or case.method == "HEAD":
        return
    code = response.json()["error"]["code"]
    told = {
        one
        for answer in case.operation.definition.raw["responses"].values()
        for one in answer.get("x-codes", ())
    }
    # Requests that fit no operation are the router's.
    if code != "METHOD_NOT_ALLOWED" and case.method == case.operation.method.upper():
        assert code in told, f"{code} is not told of {case.operation.label}"


@schemathesis.serializer("application/offset+octet-stream")
def bytes_as_they_are(ctx: SerializationContext, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
