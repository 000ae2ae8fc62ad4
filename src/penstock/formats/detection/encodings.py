"""Detect the encoding of a text: byte order marks, then strict UTF-8, then the likeliest words."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from penstock.formats.detection.alphabets import FREQUENT, NARROW, PRIOR, WIDE
from penstock.formats.source import Source
from penstock.model.errors import BadInput
from penstock.model.text.encodings import is_text_encoding

BLOCK_BYTES = 1024 * 1024
SAMPLE_BYTES = 64 * 1024

# Longest first: the mark of UTF-32 starts with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Error handler of `open`: bytes that are not UTF-8 are marked, so that their row can be reported,
# and then read as Windows-1252.
MIXED = "penstock-mixed"
_FIRST_MARK = 0xF_FE00  # in a plane for private use
_FOREIGN = re.compile("[\U000ffe80-\U000ffeff]")
# The same in UTF-8: bytes are searched many times as fast as characters of a class.
_FOREIGN_BYTES = re.compile(rb"\xf3\xbf[\xba\xbb]")
# The maximum share of foreign bytes in UTF-8 text.
MAX_FOREIGN = 0.1

# The seven-bit encoding of Japanese mails switches to kanji and back with escapes.
_ESCAPED_JAPANESE = re.compile(rb"\x1b\$[@B][!-~]{2,}\x1b\([BJ]")
_CLOSE = 0.08
_ASCII = bytes(range(128))
# A non-ASCII character with its neighbours.
_BEYOND = re.compile(r"(?s)(?=(.)([^\x00-\x7f])(.))")


class Encoding(NamedTuple):
    """``errors`` is the error handler for `open`; ``others`` fit about as well."""

    name: str
    errors: str = "strict"
    others: tuple[str, ...] = ()
    note: str | None = None


def marked_encoding(head: bytes) -> str | None:
    """The encoding shown by a byte order mark or by the positions of NULs."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    head = head[: len(head) & ~1]
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if half and odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if half and even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    if half and even + odd > 0.05 * half:
        return _utf16_of_one_alphabet(head)
    return None


def _utf16_of_one_alphabet(head: bytes) -> str | None:
    """UTF-16 of an alphabet beyond Latin: the high bytes are all NUL or that of the alphabet."""
    for name, high, low in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        highs, size = Counter(head[high::2]), len(head) // 2
        pages = sum(count for _, count in highs.most_common(2))
        spread = 0 in highs and pages > 0.95 * size and len(set(head[low::2])) > len(highs)
        if spread and head[low::2].count(0) < 0.05 * size:
            return name
    return None


def fits(source: Source, name: str) -> bool:
    """Whether the file can be decoded with its declared encoding."""
    if not is_text_encoding(name):
        return False
    try:
        return marked_encoding(source.head(4)) is None and _errors(source, name, 1).first is None
    except (LookupError, ValueError):
        return False


def find_encoding(source: Source) -> Encoding:
    """An encoding that decodes the whole file, with the alternatives."""
    head = source.head(SAMPLE_BYTES)
    marked = marked_encoding(head)
    errors = _errors(source, marked or "utf-8")
    if errors.first is None:
        is_escaped = marked is None and errors.multibyte == 0 and _ESCAPED_JAPANESE.search(head)
        return Encoding("iso2022_jp" if is_escaped else marked or "utf-8")
    if marked is not None and not marked.startswith("utf-8"):
        # Ignore a last character that was cut.
        note = f"bytes that are no {marked.upper()} near {errors.first:,} were replaced"
        if errors.found > 3:
            raise BadInput(
                "UNSUPPORTED_TYPE",
                f"The file starts as {marked.upper()} text, but is not near byte "
                f"{errors.first:,} is not",
            )
        return Encoding(marked, "replace", note=note)
    if marked or errors.found <= MAX_FOREIGN * errors.multibyte:
        note = (
            f"{errors.found:,} bytes are no UTF-8, the first near {errors.first:,}; "
            "they were read as cp1252"
        )
        return Encoding(marked or "utf-8", MIXED, note=note)
    return _likeliest(source, _around(source, errors.first))


def _likeliest(source: Source, sample: bytes) -> Encoding:
    scores = encoding_scores(sample)
    beyond = _bytes_beyond_ascii(source)

    def fits_all(name: str) -> bool:
        if name in WIDE:
            return _errors(source, name, most=1).first is None
        try:
            beyond.decode(name)
        except UnicodeDecodeError:
            return False
        return True

    best = next(filter(fits_all, scores), None)
    if best is None:
        return Encoding("cp1252", "replace", note="no encoding fits the whole file")
    close = [n for n in scores if n != best and 0 <= scores[best] - scores[n] <= _CLOSE]
    return Encoding(best, others=tuple(filter(fits_all, close[:8]))[:4])


def _bytes_beyond_ascii(source: Source) -> bytes:
    """The distinct non-ASCII bytes, which decide the possible single-byte encodings."""
    found: set[int] = set()
    for block in _blocks(source):
        found |= set(block.translate(None, _ASCII))
    return bytes(sorted(found))


def encoding_scores(sample: bytes) -> dict[str, float]:
    """Encodings that can decode the sample, the likeliest first."""
    scores: dict[str, float] = {}
    for name in (*WIDE, *NARROW):
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        scores[name] = _wide_score(text, name) if name in WIDE else _narrow_score(text, name)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _wide_score(text: str, name: str) -> float:
    """East Asian texts consist of common ideographs, kana or syllables, with few others."""
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        return 0.0
    points = sum(_wide_point(char, name) for char in foreign) / len(foreign)
    # A single pair of bytes is more often two accented letters than one ideograph.
    return points - 1.5 / len(foreign)


@lru_cache(maxsize=8192)
def _wide_point(char: str, name: str) -> float:
    common, leads = WIDE[name]
    code = ord(char)
    if 0x3040 <= code <= 0x30FF:  # kana
        return 1.4 if name in ("cp932", "euc_jp") else -0.5
    if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E:
        return 1.0
    if 0xFF61 <= code <= 0xFF9F:  # kana of half width
        return 0.1
    if unicodedata.category(char) in ("Co", "Cn", "Cc"):
        return -2.0
    hangul = 0xAC00 <= code <= 0xD7A3
    if not hangul and not 0x4E00 <= code <= 0x9FFF:
        return 0.0
    if char.encode(name)[0] not in leads:
        return 0.2
    points = 0.3 if (name == "cp949") != hangul else 1.0
    return points + (0.5 if char in common else 0.0)


def _narrow_score(text: str, name: str) -> float:
    """How well the non-ASCII letters fit their neighbours, and whether one of the encoding's
    languages has all of them."""
    # Words repeat, so each is scored once.
    seen = Counter(_BEYOND.findall(f" {text} "))
    count = seen.total()
    if not count:
        return 0.0
    total, letters = 0.0, Counter[str]()
    for (before, char, after), times in seen.items():
        total += times * _point(char, before, after)
        if char.isalpha():
            letters[char.lower() if len(char.lower()) == 1 else char] += times
    said = letters.total()
    known = max(
        sum(times for letter, times in letters.items() if letter in language)
        for language in NARROW[name]
    )
    # A text of symbols only says nothing about the language.
    coverage = known / said if said else 0.5
    common = sum(times for letter, times in letters.items() if letter in FREQUENT)
    frequent = common / max(said, 1) * (coverage > 0.95)
    return total / count + 0.8 * coverage + 0.3 * frequent + PRIOR.get(name, 0.0)


def _point(char: str, before: str, after: str) -> float:
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cn", "Co"):
        return -2.0
    if "\u0e00" <= char <= "\u0e7f":
        return _thai_point(char, before, after)
    if char.isalpha():
        return _letter_point(char, before, after)
    if "\u2500" <= char <= "\u25ff":
        return -1.0
    # Symbols follow digits, spaces and other symbols; inside a word they are misread letters.
    inside = before.isalpha() and after.isalpha()
    if char in "²³" and before in "mM" and not inside:
        return 1.3
    if char in "'’·´\u00a0" or (not inside and char in "€°²³½¼¾®™©µ±×•–—‘“”„…«»§£"):
        return 0.7
    if after.isalpha() and char not in "„“”«»‘¿¡€£$§©•–—":
        return -0.5
    return -0.8 if inside else 0.2


_THAI_CONSONANTS = frozenset(map(chr, range(0x0E01, 0x0E2F)))
_THAI_MARKS = frozenset(map(chr, (0x0E31, *range(0x0E34, 0x0E3B), *range(0x0E47, 0x0E4F))))
_THAI_BEFORE = frozenset("เแโใไ")
_THAI_AFTER = _THAI_MARKS | frozenset("ะาำๅ")


def _thai_point(char: str, before: str, after: str) -> float:
    """Vowel signs and tone marks stand at a consonant, some vowels before one."""
    if any(c.isalpha() and c < "\u0e00" for c in before + after):
        return -1.5
    if char in _THAI_AFTER and before not in _THAI_CONSONANTS | _THAI_AFTER:
        return -1.5
    if char in _THAI_BEFORE and after not in _THAI_CONSONANTS:
        return -1.5
    if not any("\u0e00" <= c <= "\u0e7f" for c in before + after):
        # A single letter is no word.
        return -0.6
    # A text of consonants alone is none.
    return 0.9 if char in _THAI_BEFORE | _THAI_AFTER else 0.1


def _letter_point(char: str, before: str, after: str) -> float:
    neighbours = [c for c in (before, after) if c.isalpha()]
    script = _script(char)
    if char in "œŒ" and after not in "uisctUISCT":
        return -0.6
    if char in "ªºƒ":
        return 0.3 if before.isdigit() else -0.8
    if not neighbours:
        return -0.2 if script == "LATIN" else -0.5
    if any(_script(c) != script for c in neighbours):
        return -1.5
    if char.isupper() and (before.islower() or (after.islower() and before.isalpha())):
        return -0.8
    if script == "LATIN":
        # Most letters of a word have no accent.
        foreign = sum(c > "\x7f" for c in neighbours)
        return (0.6, 0.2, -0.6)[foreign]
    return 0.6


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "?").split(" ", 1)[0] if char > "\x7f" else "LATIN"


class _Errors(NamedTuple):
    first: int | None
    found: int
    multibyte: int


def _errors(source: Source, encoding: str, most: int = 10_000) -> _Errors:
    """The first position and number of decoding errors, and the number of multi-byte UTF-8
    sequences."""
    first: int | None = None
    count = read = multibyte = 0

    def noted(error: UnicodeError) -> tuple[str, int]:
        nonlocal first, count
        assert isinstance(error, UnicodeDecodeError)
        first = read + error.start if first is None else first
        count += 1
        if count >= most:
            raise error
        return "\ufffd", error.end

    codecs.register_error("penstock-counting", noted)
    decoder = codecs.getincrementaldecoder(encoding)("penstock-counting")
    try:
        for block in _blocks(source):
            text = decoder.decode(block)
            read += len(block)
            if not text.isascii():
                seen = text[:SAMPLE_BYTES]
                multibyte += len(seen) - len(seen.encode("ascii", "ignore"))
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        pass
    return _Errors(first, count, multibyte - count)


def _blocks(source: Source) -> Iterator[bytes]:
    with source.open() as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def _around(source: Source, position: int) -> bytes:
    """The head and whole lines near a position, so that no multi-byte character is cut."""
    start = max(0, position - SAMPLE_BYTES // 2)
    with source.open() as file:
        _skip(file, start)
        sample = file.read(SAMPLE_BYTES)
    first = sample.find(b"\n") + 1 if start else 0
    last = sample.rfind(b"\n") + 1 if len(sample) == SAMPLE_BYTES else len(sample)
    return sample[first:last] or sample


def _skip(file: BinaryIO, count: int) -> None:
    while count > 0 and (block := file.read(min(count, BLOCK_BYTES))):
        count -= len(block)


def _marked_bytes(error: UnicodeError) -> tuple[str, int]:
    """Replace foreign bytes by private-use characters until their line is known."""
    assert isinstance(error, UnicodeDecodeError)
    foreign = error.object[error.start : error.end]
    return "".join(chr(_FIRST_MARK + byte) for byte in foreign), error.end


def is_foreign(text: str) -> bool:
    if text.isascii():
        return False
    return _FOREIGN_BYTES.search(text.encode("utf-8", "surrogatepass")) is not None


def as_cp1252(text: str) -> str:
    """The text with its foreign bytes read as Windows-1252."""
    return _FOREIGN.sub(
        lambda found: bytes([ord(found[0]) - _FIRST_MARK]).decode("cp1252", "replace"), text
    )


# C1 controls other than NEL do not occur in texts: they are Windows-1252 decoded as Latin-1.
_C1 = re.compile("[\x80-\x84\x86-\x9f]")
_C1_BYTES = re.compile(rb"\xc2[\x80-\x84\x86-\x9f]")


def read_c1_as_cp1252(text: str) -> str:
    """The text with C1 controls replaced by the characters that Windows-1252 has in their place."""
    if text.isascii() or _C1_BYTES.search(text.encode("utf-8", "surrogatepass")) is None:
        return text
    return _C1.sub(lambda found: found[0].encode("latin-1").decode("cp1252", "replace"), text)


codecs.register_error(MIXED, _marked_bytes)
