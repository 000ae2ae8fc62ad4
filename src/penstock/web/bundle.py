"""The built files, held in memory: they are few, and small once compressed."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

DIST = Path(__file__).parent / "dist"
INDEX = "index.html"
_PACKED_ALREADY = (".woff2", ".png", ".jpg", ".webp")
_TYPES = {".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2"}


@dataclass(frozen=True)
class Asset:
    name: str
    raw: bytes

    @property
    def is_named_by_content(self) -> bool:
        """Such a file never changes under its name, so browsers may keep it for good."""
        return self.name.startswith("assets/")

    @cached_property
    def media_type(self) -> str:
        suffix = Path(self.name).suffix
        found = _TYPES.get(suffix) or mimetypes.guess_type(self.name)[0]
        kind = found or "application/octet-stream"
        return f"{kind}; charset=utf-8" if kind in ("text/html", "text/css") else kind

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.raw).hexdigest()[:24]}"'

    @cached_property
    def gzipped(self) -> bytes | None:
        """None where it would gain nothing."""
        if self.name.endswith(_PACKED_ALREADY):
            return None
        packed = gzip.compress(self.raw, 9, mtime=0)
        return packed if len(packed) < len(self.raw) else None


def load(folder: Path = DIST) -> dict[str, Asset]:
    """Every file by its path below the folder; none where the UI was not built."""
    if not (folder / INDEX).is_file():
        return {}
    return {
        name: Asset(name, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (name := path.relative_to(folder).as_posix()) != "BUILD.json"
    }
