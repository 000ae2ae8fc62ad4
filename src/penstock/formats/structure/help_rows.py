"""Rows below the names that explain the columns: sentences, `required`, `max. 20 characters`."""

from __future__ import annotations

import re
from collections.abc import Sequence

Row = Sequence[str]
_WORD = re.compile(r"[^\W\d_]+")
# A cell with more words is read as a sentence.
MAX_WORDS = 6
# What templates say about columns: whether a value is required, and of which form.
_WORDS = """
required optional mandatory recommended conditional desired preferred pflicht
pflichtfeld optionales obligatoire facultatif optionnel recommandé obligatorio opcional
requerido recomendado obbligatorio facoltativo opzionale consigliato verplicht optioneel
obrigatório wymagane wymagany opcjonalne opcjonalny obowiązkowe zalecane povinné povinný
volitelné volitelný nepovinné kötelező opcionális ajánlott obligatoriu opțional zorunlu
opsiyonel обязательно обязательное необязательно необязательное опционально обовязкове
необовязкове задължително obligatorisk valgfri valfritt valgfritt obligatoriskt
pakollinen valinnainen kohustuslik υποχρεωτικό προαιρετικό 必須 任意 必填 选填 필수 선택 string text
varchar char integer int decimal float double numeric boolean bool datetime timestamp
alphanumeric alphanumerisch numerisch ganzzahl dezimal dezimalzahl zeichen zeichenkette
freitext stellen entier décimal numérique caractères alphanumérique entero decimales
numérico caracteres alfanumérico testo intero decimale caratteri alfanumerico tekens
cijfers inteiro liczba całkowita znaków cyfr znaků číslic karakter heltal tecken tegn
merkkiä символов целое дробное characters chars digits yyyy jjjj aaaa
"""
_ABOUT_COLUMNS = frozenset(_WORDS.split())


def explains(row: Row, names: Row) -> bool:
    """Whether the row explains the columns, below names that are shorter."""
    named = [
        cell.strip() for n, cell in enumerate(row)
        if cell.strip() and n < len(names) and names[n].strip()
    ]  # fmt: skip
    if len(named) < 2:
        return False
    sentences = sum(len(cell.split()) > 2 and cell[-1] in ".!?。" for cell in named)
    if sentences >= 0.6 * len(named):
        return not any(cell.strip().endswith(".") and len(cell.split()) > 2 for cell in names)
    return len(named) > 2 and sum(map(_is_about_column, named)) >= 0.6 * len(named)


def _is_about_column(cell: str) -> bool:
    said = _WORD.findall(cell.casefold())
    return 0 < len(said) <= MAX_WORDS and not _ABOUT_COLUMNS.isdisjoint(said)
