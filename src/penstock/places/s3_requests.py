"""Requests of S3, signed (AWS Signature Version 4) and sent by the guarded client."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.parsers import expat

from penstock.model.errors import NotThere, PenstockError, Unavailable
from penstock.model.network.fetching import FetchLimits, FetchRequest, ResponseHead
from penstock.model.ports import Fetch
from penstock.places.errors import bad_address, refusal, refused_sign_in, unreachable

_SAFE = "-._~"
_MAX_ANSWER = 16 * 1024 * 1024
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Bucket:
    """``origin`` and ``base`` are how the bucket is addressed: `https://bucket.s3.…` and ``""``, or
    `https://endpoint` and `/bucket`."""

    name: str
    prefix: str
    region: str
    origin: str
    base: str

    @property
    def host(self) -> str:
        return urlsplit(self.origin).netloc


def parse_bucket(address: str) -> Bucket:
    """``s3://bucket/prefix``, perhaps with ``?endpoint=https://…&region=…``."""
    parts = urlsplit(address.strip())
    name = parts.netloc
    plain = name.replace("-", "").replace(".", "")
    if parts.scheme != "s3" or not 3 <= len(name) <= 63 or not (plain.isalnum() and name.isascii()):
        raise bad_address("write `s3://bucket/prefix`.")
    given = dict(parse_qsl(parts.query))
    unknown = [one for one in given if one not in ("endpoint", "region")]
    if unknown or parts.fragment:
        raise bad_address("after `?` only `endpoint` and `region` are known.")
    region = given.get("region", "us-east-1")
    if not region.replace("-", "").isalnum() or not region.isascii():
        raise bad_address("the region is not valid.")
    prefix = unquote(parts.path).lstrip("/")
    if prefix and not prefix.endswith("/"):
        prefix += "/"
    endpoint = given.get("endpoint", "").rstrip("/")
    if not endpoint:
        return Bucket(name, prefix, region, f"https://{name}.s3.{region}.amazonaws.com", "")
    split = urlsplit(endpoint)
    if split.scheme not in ("http", "https") or split.path or split.query or "@" in split.netloc:
        raise bad_address("the endpoint must be like `https://s3.example.com`.")
    return Bucket(name, prefix, region, endpoint, f"/{name}")


class S3Requests:
    """Requests to one bucket."""

    def __init__(
        self, fetch: Fetch, bucket: Bucket, credentials: Mapping[str, str], seconds: float
    ) -> None:
        self.fetch = fetch
        self.bucket = bucket
        self._credentials = credentials
        self._silent_ms = round(seconds * 1000)

    def request(
        self, method: str, key: str, query: Mapping[str, str] | None = None, body: bytes = b"",
        headers: Mapping[str, str] | None = None, limits: FetchLimits | None = None,
    ) -> FetchRequest:  # fmt: skip
        """A signed request for an object, or for the bucket if ``key`` is empty."""
        bucket = self.bucket
        path = f"{bucket.base}/{quote(key, safe=_SAFE + '/')}"
        text = "&".join(
            f"{quote(name, safe=_SAFE)}={quote(value, safe=_SAFE)}"
            for name, value in sorted((query or {}).items())
        )
        signed = _sign(
            self._credentials, bucket, method, path, text, body, headers or {}, datetime.now(UTC)
        )
        url = f"{bucket.origin}{path}" + (f"?{text}" if text else "")
        plain = limits or FetchLimits(_MAX_ANSWER, self._silent_ms * 4, self._silent_ms, hops=0)
        return FetchRequest(url, method, signed, body, plain)

    async def send(
        self, method: str, key: str, query: Mapping[str, str] | None = None, body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[ResponseHead, bytes]:  # fmt: skip
        """Head and body of an answer that is no error. Raises `NotThere` for 404 and 412."""
        answer = await self.fetch.fetch(self.request(method, key, query, body, headers))
        if answer.status >= 300:
            raise failure(answer, answer.body)
        # A copy can fail after its status was sent.
        if body == b"" and answer.body.find(b"<Error>", 0, 500) >= 0:
            raise unreachable(_error_code(answer.body))
        return answer, answer.body


def failure(answer: ResponseHead, body: bytes) -> PenstockError:
    said = _error_code(body)
    if answer.status in (401, 403):
        return refused_sign_in()
    if answer.status == 404 and "NoSuchBucket" in said:
        return NotThere("PLACE_NOT_FOUND", "There is no such bucket.")
    if answer.status in (404, 412):
        return NotThere("FILE_NOT_FOUND", "There is no such object any more.")
    if answer.status in (408, 429) or answer.status >= 500:
        return Unavailable(
            "PLACE_UNREACHABLE", f"The server answered {answer.status}. {said}",
            retry_after_ms=answer.retry_after_ms,
        )  # fmt: skip
    return refusal(f"The server answered {answer.status}. {said}")


def _error_code(body: bytes) -> str:
    """The code of an error, which is safe to show."""
    found = texts_of(body, "Code") if body.lstrip().startswith(b"<") else []
    return found[0][:_MAX_SHOWN] if found else ""


def texts_of(document: bytes, tag: str) -> list[str]:
    return [one.get(tag, "") for one in records_of(document, "", (tag,)) if tag in one]


def records_of(document: bytes, record: str, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Fields of each ``record`` element, or of the whole document. Declarations are refused, so
    that no entity is expanded."""
    found: list[dict[str, str]] = []
    current: dict[str, str] = {}
    names: list[str] = []
    inside = not record

    def begin(name: str, _: Mapping[str, str]) -> None:
        nonlocal inside, current
        names.append(name)
        if name == record:
            inside, current = True, {}

    def end(name: str) -> None:
        nonlocal inside
        names.pop()
        if name == record:
            inside = False
            found.append(current)

    def text(data: str) -> None:
        if inside and names[-1] in fields:
            current[names[-1]] = current.get(names[-1], "") + data

    def refuse(*_: object) -> None:
        raise refusal("The server answered XML with a document type.")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise unreachable("the server's answer cannot be read.") from error
    return found if record else [current]


def _sign(
    credentials: Mapping[str, str], bucket: Bucket, method: str, path: str, query: str,
    body: bytes, headers: Mapping[str, str], now: datetime,
) -> dict[str, str]:  # fmt: skip
    moment, day = f"{now:%Y%m%dT%H%M%SZ}", f"{now:%Y%m%d}"
    digest = hashlib.sha256(body).hexdigest()
    sent = {name.lower(): value for name, value in headers.items()}
    sent |= {"x-amz-content-sha256": digest, "x-amz-date": moment}
    if credentials.get("sessionToken"):
        sent["x-amz-security-token"] = credentials["sessionToken"]
    hashed = {**sent, "host": bucket.host}
    names = sorted(hashed)
    canonical = "\n".join(
        [method, path, query, *(f"{name}:{hashed[name].strip()}" for name in names), "",
         ";".join(names), digest]
    )  # fmt: skip
    scope = f"{day}/{bucket.region}/s3/aws4_request"
    text = "\n".join(
        ["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()]
    )
    key = f"AWS4{credentials['secretAccessKey']}".encode()
    for part in (day, bucket.region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    sent["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials['accessKeyId']}/{scope},"
        f" SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    return sent
