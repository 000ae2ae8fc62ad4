"""The text encodings that files may be read in.

Python also registers codecs that are no encodings of text (`idna`, `punycode`, `unicode_escape`,
`rot13`, `zlib`). Some of them raise errors that no caller expects or take quadratic time, so a name
that comes from a caller or a file is looked up here, never in the codec registry.
"""

from __future__ import annotations

from encodings import normalize_encoding
from encodings.aliases import aliases

MAX_NAME_LENGTH = 40
_NAMES = (
    "ascii utf_8 utf_8_sig utf_16 utf_16_le utf_16_be utf_32 utf_32_le utf_32_be latin_1 iso8859_1"
    " iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10"
    " iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16 cp037 cp273 cp424 cp437 cp500 cp720"
    " cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866"
    " cp869 cp874 cp875 cp932 cp949 cp950 cp1006 cp1026 cp1125 cp1140 cp1250 cp1251 cp1252 cp1253"
    " cp1254 cp1255 cp1256 cp1257 cp1258 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620 hp_roman8"
    " mac_cyrillic mac_greek mac_iceland mac_latin2 mac_roman mac_turkish big5 big5hkscs gb2312 gbk"
    " gb18030 euc_jp euc_jis_2004 euc_jisx0213 euc_kr johab shift_jis shift_jis_2004"
    " shift_jisx0213 iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3"
    " iso2022_jp_ext iso2022_kr"
)
ALLOWED = frozenset(_NAMES.split())


def is_text_encoding(name: str) -> bool:
    """Whether a name, in any of its usual spellings, is that of a text encoding."""
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isascii():
        return False
    plain = normalize_encoding(name).lower()
    return plain in ALLOWED or aliases.get(plain, aliases.get(plain.replace(".", "_"))) in ALLOWED
