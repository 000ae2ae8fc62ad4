"""Yes and no in seven languages."""

from __future__ import annotations

from penstock.catalog.numbers import is_nothing
from penstock.catalog.value import EMPTY, Normalised, unreadable
from penstock.catalog.words import words

YES = words(
    """
    1 1.0 y yes true t on x ok active enabled enable ja j wahr aktiv vorhanden oui o vrai actif
    si sí s verdadero cierto activo vero attivo waar actief sim verdadeiro ativo ✓ ✔ ✅ ☑
    available published yep visible incl included inkl"""
)
NO = words(
    """
    0 0.0 n no false f off inactive disabled disable nein falsch inaktiv non faux inactif falso
    inactivo inattivo nee onwaar inactief não nao inativo ✗ ✘ ❌ ☐ not none hidden draft excl
    excluded exkl"""
)
WORDS = YES | NO


def read_boolean(text: str) -> Normalised:
    word = text.strip().casefold().rstrip(".")
    if word in YES:
        return Normalised(True, "boolean")
    if word in NO:
        return Normalised(False, "boolean")
    if is_nothing(text):
        return EMPTY
    return unreadable("BOOLEAN_UNREADABLE", text)
