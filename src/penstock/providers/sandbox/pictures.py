"""Pictures that are drawn when they are asked for, different for every name."""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache

from PIL import Image, ImageDraw

_SIZES = ((640, 480), (480, 640), (800, 600), (500, 500))


@lru_cache(maxsize=512)
def picture(seed: int, name: str) -> bytes:
    """A JPEG. Names of copies give the same bytes as the picture that they copy."""
    shop, _, file = name.partition("/")
    if file.startswith("copy-of-shared"):
        file = "shared.jpg"
    digest = hashlib.sha256(f"{seed}:{shop}:{file}".encode()).digest()
    image = Image.new("RGB", _SIZES[digest[0] % len(_SIZES)], tuple(digest[1:4]))
    draw = ImageDraw.Draw(image)
    width, height = image.size
    for place in range(4, 20, 4):
        left, top = digest[place] * width // 320, digest[place + 1] * height // 320
        box = (left, top, left + width // 4, top + height // 4)
        draw.ellipse(box, fill=tuple(digest[place + 2 : place + 5]))
    draw.text((20, 20), f"{shop} {file.removesuffix('.jpg')}", fill="white")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()
