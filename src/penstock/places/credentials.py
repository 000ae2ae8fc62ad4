"""Which credentials a place needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.places.errors import bad_credentials

_MAX_LENGTH = 20_000


def check_credentials(
    given: Mapping[str, str], required: Sequence[str], optional: Sequence[str] = ()
) -> None:
    """Messages never contain a value."""
    known = (*required, *optional)
    for name, value in given.items():
        if name not in known:
            raise bad_credentials(
                f"there is no field {name[:50]!r}. Known: {', '.join(known) or 'none'}."
            )
        if len(value) > _MAX_LENGTH or "\0" in value:
            raise bad_credentials(f"{name} is too long, or contains a NUL.")
        if name != "privateKey" and name != "certificate" and not value.isprintable():
            raise bad_credentials(f"{name} contains a control character.")
    missing = [name for name in required if not given.get(name)]
    if missing:
        raise bad_credentials(f"{missing[0]} is missing.")
