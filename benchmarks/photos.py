"""Photos of products with barcodes, drawn by a seed: rotated, blurred, small, or without a code."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass

import zxingcpp
from PIL import Image, ImageDraw, ImageFilter

from penstock.catalog.values.gtin import check_digit

FORMATS = {
    "ean13": zxingcpp.EAN13,
    "ean8": zxingcpp.EAN8,
    "upca": zxingcpp.UPCA,
    "qr": zxingcpp.QRCode,
}
CHANGES = ("plain", "turned", "tilted", "upside down", "blurred", "small", "noisy")


@dataclass(frozen=True)
class Photo:
    """A photo file; ``text`` is what its code says, None without a code."""

    name: str
    content: bytes
    kind: str
    change: str
    text: str | None


def gtin_of(kind: str, number: int) -> str:
    """A valid number of the kind."""
    body = {
        "ean13": f"400{number:09}", "ean8": f"40{number:05}", "upca": f"03{number:09}",
        "qr": f"401{number:09}",
    }[kind]  # fmt: skip
    return body + check_digit(body)


def scene(seed: int, size: tuple[int, int] = (900, 700)) -> Image.Image:
    """Something to photograph: shapes on a background, different for every seed."""
    chance = random.Random(seed)
    image = Image.new("RGB", size, _colour(chance, 150, 255))
    draw = ImageDraw.Draw(image)
    for _ in range(14):
        left, top = chance.randrange(size[0]), chance.randrange(size[1])
        box = (left, top, left + chance.randrange(40, 420), top + chance.randrange(40, 380))
        shape = chance.choice((draw.ellipse, draw.rectangle))
        shape(box, fill=_colour(chance, 0, 255))
    return image.filter(ImageFilter.GaussianBlur(1.5))


def _colour(chance: random.Random, low: int, high: int) -> tuple[int, int, int]:
    return chance.randint(low, high), chance.randint(low, high), chance.randint(low, high)


def photo(seed: int, kind: str, change: str, text: str) -> Photo:
    """A label with a code, somewhere in a scene."""
    chance = random.Random(f"{seed} {kind} {change}")
    code = zxingcpp.create_barcode(text, FORMATS[kind])
    label = Image.fromarray(code.to_image(scale=4 if kind == "qr" else 3)).convert("RGB")
    if kind != "qr":
        label = label.resize((label.width, 130))
    margin = Image.new("RGB", (label.width + 60, label.height + 60), "white")
    margin.paste(label, (30, 30))
    image = scene(seed)
    angle = {"turned": 90, "tilted": chance.choice((17, 33, 48, -28)), "upside down": 180}
    turned = margin.convert("RGBA").rotate(
        angle.get(change, 0), Image.Resampling.BICUBIC, expand=True
    )
    left = chance.randrange(20, image.width - turned.width - 20)
    top = chance.randrange(20, image.height - turned.height - 20)
    image.paste(turned, (left, top), turned)
    if change == "blurred":
        image = image.filter(ImageFilter.GaussianBlur(1.8))
    elif change == "small":
        image = image.resize((image.width * 45 // 100, image.height * 45 // 100))
    elif change == "noisy":
        noise = Image.effect_noise(image.size, 60).convert("RGB")
        image = Image.blend(image, noise, 0.2)
    return Photo(f"photo {seed}.jpg", encoded(image), kind, change, text)


def photo_without_code(seed: int) -> Photo:
    return Photo(f"IMG_{seed:04}.jpg", encoded(scene(seed)), "none", "plain", None)


def encoded(image: Image.Image, quality: int = 85) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def folder(each: int = 1, seed: int = 1) -> Iterator[Photo]:
    """``each`` photos of every kind and change, and as many without a code."""
    for number in range(each):
        for kind in FORMATS:
            for change in CHANGES:
                seed += 1
                yield photo(seed, kind, change, gtin_of(kind, seed))
        for _ in CHANGES:
            seed += 1
            yield photo_without_code(seed + 10_000 * number)
