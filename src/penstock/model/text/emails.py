"""E-mail addresses of users: one function decides which spellings are the same account.

Addresses are stored folded, and the database compares the stored text as it is. `lower()` of
PostgreSQL and of Python differ (`İ`), so using both would give one account two names.
"""

from __future__ import annotations

import unicodedata


def fold_email(email: str) -> str:
    """The text that names the account, however the address is written."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", email).lower())
