"""The text of a price in plain characters: `12⁹⁹ €`, `CHF –.95`, `12·50`, `&pound;12` and prices in
HTML become texts that contain their amounts as ASCII numbers."""

from __future__ import annotations

import html
import re

from penstock.catalog.values import price_words as words
from penstock.catalog.values.currencies import CODE_OF_WORDS, SEVERAL_WORDS, TOKEN, currency_of
from penstock.catalog.values.numbers import read_number, to_ascii

_ABOVE = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_BELOW = str.maketrans(_ABOVE, "0123456789")
_DIGITS_ABOVE = re.compile(rf"(?<=[0-9.,€$£*])\s?[{_ABOVE}]{{1,3}}\)?")
_CENTS_BEFORE = re.compile(r"[.,][0-9]{2}$")
# `–.95`: the dash is a zero. A hyphen is a minus, unless a currency is named.
_DASH_AS_ZERO = re.compile(r"(?:^|(?<=[^\s0-9])\s?)[–—](?=[.,][0-9]{2}(?![0-9]))")
_HYPHEN_AS_ZERO = re.compile(r"(?:^|(?<=[^\s0-9])\s?)-(?=[.,][0-9]{2}(?![0-9]))")
_MIDDLE_DOT = re.compile(r"(?<=[0-9])[·^](?=[0-9])")
_UNDERSCORE = re.compile(r"(?<=[0-9])_(?=[0-9]{3}(?![0-9]))")
# `12'50` as in Spain; `5'10"` is a length.
_APOSTROPHE_AS_MARK = re.compile(r"(?<![0-9'.,])([0-9]{1,5})'([0-9]{2})(?![0-9'.,\"])")
# `12 ,50` and `12, 50`; the next one `12 , 50`.
_GAP = re.compile(r"(?<=[0-9][.,]) (?=[0-9]{2}(?![0-9]))|(?<=[0-9]) (?=[.,][0-9]{2}(?![0-9.,]))")
_WIDE_POINT = re.compile(r"(?<=[0-9]) ([.,]) (?=[0-9]{2}(?![0-9.,]))")
# `1, 299.00` and `1 , 299 . 00`
_WIDE_MARKS = re.compile(
    r"(?<![0-9.,])([0-9]{1,3}) ?(?P<mark>[.,]) ?([0-9]{3}) ?((?!(?P=mark))[.,]) ?([0-9]{2})"
    r"(?![0-9.,])"
)
# `C $129.95`
_SPLIT_SIGN = re.compile(r"(?<![^\W\d_])([A-Z]{1,3}) \$(?= ?[0-9])")
_TAG = re.compile(r"<(?P<name>/?[A-Za-z]{1,10})[^<>]{0,200}>")
_STRUCK_IN_MARKDOWN = re.compile(r"~~([^~]{1,60})~~")
_STRUCK = frozenset(("del", "s", "strike"))
# `1 299 руб. 50 коп.`
_WITH_HUNDREDTHS = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:[ .,'][0-9]{3}){1,3}|[0-9]{1,9}) ?"
    r"(?P<currency>[^\W\d_]{1,8}|[€$£₽₴₺])\.? ?(?:i |and |und |et |y |e |и )?"
    rf"(?P<cents>[0-9]{{2}}) ?(?:{words.HUNDREDTHS_WORDS})(?![^\W_])\.?",
    re.IGNORECASE,
)


def plain_text(text: str) -> str:
    """The text in plain characters, with single spaces."""
    if "&" in text:
        text = html.unescape(text)
    if "~~" in text:
        text = _STRUCK_IN_MARKDOWN.sub(r"<s>\1</s>", text)
    if "<" in text:
        text = _without_tags(text)
    if not text.isascii():
        text = _DASH_AS_ZERO.sub(" 0", _DIGITS_ABOVE.sub(_lowered, text))
    body = " ".join(to_ascii(text).split()).replace("`", "'")
    if " " in body:
        body = SEVERAL_WORDS.sub(lambda found: f" {CODE_OF_WORDS[found[0].casefold()]} ", body)
        body = " ".join(body.split())
    body = _WIDE_POINT.sub(r"\1", body)
    body = _GAP.sub("", _WIDE_MARKS.sub(r"\1\2\3\4\5", body))
    body = _MIDDLE_DOT.sub(".", _UNDERSCORE.sub("", body))
    body = _SPLIT_SIGN.sub(_joined_sign, _APOSTROPHE_AS_MARK.sub(r"\1.\2", body))
    if _HYPHEN_AS_ZERO.search(body) and TOKEN.search(body):
        body = _HYPHEN_AS_ZERO.sub(" 0", body)
    if any(map(str.isalpha, body)):
        body = words.PER_THOUSAND.sub("/1000", words.BETWEEN_AND.sub(r"\g<low> - ", body))
    return _WITH_HUNDREDTHS.sub(_joined_hundredths, body)


def _lowered(match: re.Match[str]) -> str:
    """Two raised digits after a whole number are cents; others refer to a footnote."""
    before, digits = match.string[: match.start()], match.group()
    if len(digits) != 2 or digits.endswith(")") or digits[0].isspace():
        return " "
    if before[-1].isdecimal():
        return " " if _CENTS_BEFORE.search(before) else "." + digits.translate(_BELOW)
    return digits.translate(_BELOW) if before[-1] in ".,€$£" else " "


def _without_tags(text: str) -> str:
    """The text outside of tags; without what is struck out, unless all of it is."""
    kept: list[str] = []
    struck: list[str] = []
    end, inside = 0, 0
    for match in _TAG.finditer(text):
        (struck if inside else kept).append(text[end : match.start()])
        end = match.end()
        name = match["name"].casefold()
        if name.strip("/") in _STRUCK:
            inside = max(0, inside - 1) if name[0] == "/" else inside + 1
    (struck if inside else kept).append(text[end:])
    current = " ".join(kept)
    return current if any(c.isdecimal() for c in current) else " ".join([*kept, *struck])


def _joined_sign(match: re.Match[str]) -> str:
    joined = f"{match[1]}$"
    return match.group() if currency_of(joined) is None else joined


def _joined_hundredths(match: re.Match[str]) -> str:
    token = match["currency"]
    whole = read_number(match["whole"])
    if whole is None or not whole.text.isdecimal():
        return match.group()
    if currency_of(token) is None and currency_of(token + ".") is None:
        return match.group()
    return f"{whole.text}.{match['cents']} {token} "
