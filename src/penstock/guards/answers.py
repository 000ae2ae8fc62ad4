"""The encoding of a child's answers: JSON for structures, with the bytes of long parts beside it.

Unlike a pickle it can contain only data: the classes of `model.transfer`, the errors of
`model.errors` and Python's own exceptions. Tuples come back as lists.
"""

from __future__ import annotations

import builtins
import struct
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson

from penstock.model import errors
from penstock.model.transfer import BY_CLASS, BY_NAME

_COUNT, _LENGTH = struct.Struct("!I"), struct.Struct("!Q")
# The key that marks values beyond plain JSON. No reader returns a text with a NUL.
_MARK, _VALUE = "\0as", "v"
_MARK_BYTES = b"\\u0000as"
_OPTIONS = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# Shorter lists and texts stay inside the JSON.
_MANY_LINES, _LONG_TEXT = 64, 4096
_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.PenstockError)
}
_EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


class NotAnAnswer(Exception):
    """A child sent something that `encode` does not produce."""


def encode(value: Any) -> bytes:
    encoder = _Encoder()
    try:
        head = orjson.dumps(value, encoder.mark, _OPTIONS)
    except TypeError:
        # A lone surrogate, a large number or a key that is not text: the slow path.
        encoder = _Encoder()
        head = orjson.dumps(encoder.spelled_out(value), encoder.mark, _OPTIONS)
    parts = [head, *encoder.parts]
    lengths = b"".join(_LENGTH.pack(len(part)) for part in parts)
    return b"".join((_COUNT.pack(len(parts)), lengths, *parts))


def decode(content: bytes | bytearray) -> Any:
    """Raises NotAnAnswer for anything that `encode` does not produce."""
    try:
        view = memoryview(content)
        (count,) = _COUNT.unpack_from(view)
        at = _COUNT.size + count * _LENGTH.size
        parts = []
        for (length,) in _LENGTH.iter_unpack(view[_COUNT.size : at]):
            parts.append(view[at : at + length])
            at += length
        if at != len(view):
            raise NotAnAnswer("its parts are not as long as it says")
        value = orjson.loads(parts[0])
        marked = _MARK_BYTES in bytes(parts[0])
        return _Decoder(parts[1:]).restored(value) if marked else value
    except NotAnAnswer:
        raise
    except Exception as error:
        raise NotAnAnswer(f"{type(error).__name__}: {error}") from error


def encode_error(error: BaseException) -> bytes:
    if isinstance(error, errors.PenstockError) and type(error).__name__ in _ERRORS:
        document: dict[str, Any] = {
            "kind": type(error).__name__, "code": error.code, "message": error.message,
            "retry_after_ms": error.retry_after_ms, "details": error.details,
        }  # fmt: skip
        return encode(document)
    if type(error) is _EXCEPTIONS.get(type(error).__name__):
        return encode({"kind": type(error).__name__, "message": str(error)})
    return encode({"kind": "RuntimeError", "message": f"{type(error).__name__}: {error}"})


def decode_error(content: bytes | bytearray) -> Exception:
    document = decode(content)
    try:
        kind, message = document["kind"], str(document["message"])
        if kind in _ERRORS:
            decoded = _ERRORS[kind](str(document["code"]), message)
            decoded.retry_after_ms = document["retry_after_ms"]
            decoded.details = dict(document["details"])
            return decoded
        return _plain_exception(kind, message)
    except (KeyError, TypeError, ValueError) as error:
        raise NotAnAnswer(f"not an error: {error}") from error


def _plain_exception(kind: str, message: str) -> Exception:
    try:
        return _EXCEPTIONS[kind](message)
    except (KeyError, TypeError):
        # Some exceptions of Python need more than a message.
        return RuntimeError(f"{kind}: {message}")


class _Encoder:
    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def mark(self, value: Any) -> dict[str, Any]:
        """Called by orjson for types that JSON lacks."""
        known = BY_CLASS.get(type(value))
        if known is not None:
            fields = [self._field(getattr(value, name)) for name in known.fields]
            return {_MARK: known.name, _VALUE: fields}
        if isinstance(value, bytes | bytearray):
            return self._part("bytes", bytes(value))
        if isinstance(value, set | frozenset):
            return {_MARK: "set", _VALUE: list(value)}
        if isinstance(value, Decimal):
            return {_MARK: "decimal", _VALUE: str(value)}
        if isinstance(value, datetime):
            return {_MARK: "datetime", _VALUE: value.isoformat()}
        if isinstance(value, date):
            return {_MARK: "date", _VALUE: value.isoformat()}
        # Subclasses lose their class.
        if isinstance(value, str):
            return {_MARK: "plain", _VALUE: str(value)}
        if isinstance(value, int):
            return {_MARK: "plain", _VALUE: int(value)}
        if isinstance(value, list):
            return {_MARK: "plain", _VALUE: list(value)}
        if isinstance(value, Mapping):
            return {_MARK: "plain", _VALUE: dict(value)}
        raise TypeError(
            f"{type(value).__name__} cannot be sent by a child process: mark its class with"
            " penstock.model.transfer.transferable"
        )

    def _field(self, value: Any) -> Any:
        """Long texts and lists of lines are sent unescaped, outside the JSON."""
        if type(value) is str and len(value) > _LONG_TEXT:
            return self._part("text", value.encode("utf-8", "surrogatepass"))
        if type(value) is list and len(value) > _MANY_LINES and type(value[0]) is str:
            try:
                joined = "\n".join(value)
            except TypeError:
                return value
            if joined.count("\n") == len(value) - 1:
                return self._part("lines", joined.encode("utf-8", "surrogatepass"))
        return value

    def _part(self, kind: str, content: bytes) -> dict[str, Any]:
        self.parts.append(content)
        return {_MARK: kind, _VALUE: len(self.parts) - 1}

    def spelled_out(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return self._part("text", value.encode("utf-8", "surrogatepass"))
            return str(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value if -(2**63) <= value < 2**63 else {_MARK: "int", _VALUE: str(value)}
        if type(value) in BY_CLASS:
            known = BY_CLASS[type(value)]
            fields = [self.spelled_out(getattr(value, name)) for name in known.fields]
            return {_MARK: known.name, _VALUE: fields}
        if isinstance(value, Mapping):
            pairs = [[self.spelled_out(key), self.spelled_out(one)] for key, one in value.items()]
            return {_MARK: "pairs", _VALUE: pairs}
        if isinstance(value, list | tuple):
            return [self.spelled_out(one) for one in value]
        return value


class _Decoder:
    def __init__(self, parts: list[memoryview]) -> None:
        self._parts = parts

    def restored(self, value: Any) -> Any:
        if type(value) is list:
            for place, one in enumerate(value):
                if type(one) is dict or type(one) is list:
                    value[place] = self.restored(one)
        elif type(value) is dict:
            kind = value.get(_MARK)
            if kind is not None:
                return self._decoded(kind, value[_VALUE])
            for name, one in value.items():
                if type(one) is dict or type(one) is list:
                    value[name] = self.restored(one)
        return value

    def _decoded(self, kind: str, value: Any) -> Any:
        known = BY_NAME.get(kind)
        if known is not None:
            return known.build(self.restored(value))
        match kind:
            case "text":
                return str(self._parts[value], "utf-8", "surrogatepass")
            case "lines":
                return str(self._parts[value], "utf-8", "surrogatepass").split("\n")
            case "bytes":
                return bytes(self._parts[value])
            case "set":
                return set(self.restored(value))
            case "plain":
                return self.restored(value)
            case "pairs":
                return {self.restored(key): self.restored(one) for key, one in value}
            case "int":
                return int(value)
            case "decimal":
                return Decimal(value)
            case "datetime":
                return datetime.fromisoformat(value)
            case "date":
                return date.fromisoformat(value)
        raise NotAnAnswer(f"it names {kind!r}, which is no data")
