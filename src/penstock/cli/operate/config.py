"""`penstock config`."""

from __future__ import annotations

from typing import Any

import typer

from penstock.cli import printing

app = typer.Typer(help="Settings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Settings come from flags, then environment variables with the prefix PENSTOCK_, then `.env`,
    then from `penstock.toml` (or the file that PENSTOCK_CONFIG names), then the defaults.
    Secrets may stand in a file that a variable ending in _FILE names."""


@app.command("show")
def show(json: printing.Json = False) -> None:
    """Every setting in force and where it comes from; secrets are hidden."""
    found = list(_settings())
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["variable"],
            "" if one["value"] is None else one["value"],
            one["source"],
            one["description"],
        )
        for one in found
    ]
    printing.columns(("VARIABLE", "VALUE", "SOURCE", "MEANING"), rows)


def _settings() -> Any:
    from penstock.settings import Settings
    from penstock.settings_sources import PREFIX, Sources

    settings = Settings()
    found = Sources(Settings).found()
    for name, field in Settings.model_fields.items():
        _, where = found.get(name, (None, "default"))
        yield {
            "variable": f"{PREFIX}{name.upper()}",
            "value": _shown(getattr(settings, name)),
            "source": where,
            "description": field.description or "",
        }


def _shown(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    # A SecretStr shows itself as stars.
    return str(value)
