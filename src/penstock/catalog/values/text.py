"""Clean text: one kind of space, NFC, no control characters, no markup."""

from __future__ import annotations

import html
import re
import unicodedata

from penstock.catalog.values.numbers import without_formula
from penstock.catalog.values.result import EMPTY, NormalisedValue, build, problem
from penstock.catalog.word_lists import load, phrases, words

MAX_LINE_LENGTH = 1_000
MAX_TEXT_LENGTH = 50_000

_SPACES = re.compile(r"[^\S\n]+")
_AROUND_LINES = re.compile(r" ?\n ?")
_BLANK_LINES = re.compile(r"\n{3,}")
# Control and format characters, lone surrogates and noncharacters that no field may hold.
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029\x0b\x0c]")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>|<!--")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_TAG_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]{0,15}")
_BREAKS = words(
    """
    address article aside blockquote br dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr
    li main nav ol p pre section table td th tr ul"""
)
_SILENT = frozenset(("script", "style", "template", "noscript", "iframe", "svg", "title"))
# UTF-8 that was read as Windows-1252: "MÃ¼ller", "1â‚¬", "5Â°".
_MISREAD = re.compile("Ã[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€|â‚|Â[\u00a0-\u00bf]")
_SUSPECT = re.compile("[ÃâÂ\ufffd]")
PLACEHOLDERS = frozenset(phrases(load("placeholders")["texts"]))
_CELL_ERRORS = words(load("placeholders")["errors in texts"])


def read_line(text: str) -> NormalisedValue:
    """A title, a name, a material: one line."""
    if text.isprintable() and 2 < len(text) <= MAX_LINE_LENGTH and _is_clean(text):
        return build(NormalisedValue, (text, "text", 1.0, ()))
    return _read(text, MAX_LINE_LENGTH, one_line=True)


def read_text(text: str) -> NormalisedValue:
    """A description: lines are kept, markup becomes lines."""
    if text.isprintable() and 2 < len(text) <= MAX_TEXT_LENGTH and _is_clean(text):
        return build(NormalisedValue, (text, "text", 1.0, ()))
    return _read(text, MAX_TEXT_LENGTH, one_line=False)


def _is_clean(text: str) -> bool:
    """Whether cleaning would not change it, as for most cells."""
    if "  " in text or "<" in text or "&" in text or text[0] in " #-(nN=" or text[-1] == " ":
        return False
    if text[-1] == "." and len(text) < 8:
        return False
    if text.isascii():
        return True
    return unicodedata.is_normalized("NFC", text) and not _SUSPECT.search(text)


def _read(text: str, limit: int, *, one_line: bool) -> NormalisedValue:
    # A cell may contain megabytes; what exceeds the limit is not processed.
    cut = len(text) > limit * 4
    cleaned, repaired = _unmangled(without_formula(text[: limit * 4].strip()))
    rule = "text"
    if "<" in cleaned or "&" in cleaned:
        stripped = strip_markup(cleaned)
        if stripped != cleaned:
            cleaned, rule = stripped, "html_to_text"
    cleaned = tidy_line(cleaned) if one_line else tidy_lines(cleaned)
    low = cleaned.casefold() if len(cleaned) < 16 else ""
    if low in _CELL_ERRORS:
        return NormalisedValue(None, "cell_error", 0.0, (problem("CELL_ERROR", value=cleaned),))
    if not cleaned or low in PLACEHOLDERS:
        return EMPTY
    problems = []
    if repaired:
        rule = "encoding_repaired"
    if "�" in cleaned:
        problems.append(problem("TEXT_UNREADABLE"))
    if cut or len(cleaned) > limit:
        cleaned = cleaned[:limit].rstrip()
        problems.append(problem("TEXT_TOO_LONG", limit=limit))
    return NormalisedValue(cleaned, rule, 0.9 if repaired else 1.0, tuple(problems))


def _unmangled(text: str) -> tuple[str, bool]:
    """Repair UTF-8 that was read as Windows-1252, if that is possible without loss."""
    if not text.isascii() and _MISREAD.search(text):
        try:
            return text.encode("cp1252").decode("utf-8"), True
        except (UnicodeEncodeError, UnicodeDecodeError):
            return text, False
    return text, False


def tidy_line(text: str) -> str:
    """One line, NFC, without control characters."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    text = unicodedata.normalize("NFC", _UNWANTED.sub("", _LINE_ENDS.sub(" ", text)))
    return " ".join(text.split())


def tidy_lines(text: str) -> str:
    """The same, with lines kept and no more than one blank line between them."""
    text = text.strip()
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = _AROUND_LINES.sub("\n", _SPACES.sub(" ", text))
    return _BLANK_LINES.sub("\n\n", text).strip()


def looks_like_markup(text: str) -> bool:
    return _TAG.search(text) is not None or _ENTITY.search(text) is not None


def strip_markup(text: str) -> str:
    """Text without tags. Some feeds escape markup twice, so tags that appear after unescaping are
    removed too, in up to three rounds."""
    for _ in range(3):
        if not looks_like_markup(text):
            break
        text = html.unescape(_without_tags(text))
    return text


def _without_tags(text: str) -> str:
    """One pass over the text, in linear time."""
    out: list[str] = []
    at = 0
    silent = ""
    while (opened := text.find("<", at)) >= 0:
        if not silent:
            out.append(text[at:opened])
        tag, closed = _tag_at(text, opened)
        if closed < 0:
            # No further tag is possible, or this "<" is not the start of one.
            at = opened + 1
            if not silent:
                out.append("<")
            if tag:
                break
            continue
        at = closed
        if silent:
            silent = "" if tag == "/" + silent else silent
        elif tag in _SILENT:
            silent = "" if text[closed - 2] == "/" else tag
        elif tag.lstrip("/") in _BREAKS:
            out.append("\n- " if tag == "li" else "\n")
    if not silent:
        out.append(text[at:])
    return "".join(out)


def _tag_at(text: str, opened: int) -> tuple[str, int]:
    """The name of the tag that starts here and its end; -1 if it does not end."""
    if text.startswith("<!--", opened):
        closed = text.find("-->", opened + 4)
        return "", closed + 3 if closed >= 0 else len(text)
    name = _TAG_NAME.match(text, opened + 1)
    if name is None and not text.startswith(("<!", "<?"), opened):
        return "", -1
    closed = text.find(">", opened + 1)
    tag = name.group().lower() if name else "!"
    return tag, closed + 1 if closed >= 0 else -1
