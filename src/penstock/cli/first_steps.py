"""What whoever starts a new installation must see, once."""

from __future__ import annotations

from penstock.engine.first_admin import FirstAdmin


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


def admin_key(key: str | None) -> list[str]:
    return [] if key is None else [f"Admin key: {key}"]
