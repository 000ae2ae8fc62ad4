"""What a new installation prints once: how to sign in."""

from __future__ import annotations

from pathlib import Path

from penstock.accounts.bootstrap import write_private
from penstock.accounts.first_admin import FirstAdmin


def how_to_sign_in(admin: FirstAdmin | None, url: str) -> list[str]:
    if admin is None:
        return []
    if admin.password is None:
        return ["", f"  Sign in at {url} as {admin.email}, with the configured password.", ""]
    return [
        "",
        f"  Sign in at {url}",
        f"    e-mail    {admin.email}",
        f"    password  {admin.password}",
        "  The password is shown this once. Another one:",
        f"    penstock users reset-password {admin.email}",
        "",
    ]


def without_terminal(admin: FirstAdmin | None, url: str, file: Path) -> list[str]:
    """The same where the output goes to a log, which others may read: the password goes to a file
    that only its owner can read. The admin key is in a file of its own already."""
    if admin is None or admin.password is None:
        return how_to_sign_in(admin, url)
    write_private(file, admin.password)
    return [
        f"Sign in at {url} as {admin.email}.",
        f"The password is in {file}: read it, then delete it.",
    ]


def admin_key(key: str | None) -> list[str]:
    return [] if key is None else [f"Admin key: {key}"]
