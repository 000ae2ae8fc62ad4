"""`penstock config`."""

from __future__ import annotations

from typing import Any

import typer

from penstock.cli import shown

app = typer.Typer(help="Settings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Settings come from environment variables with the prefix PENSTOCK_."""


@app.command("show")
def show(json: shown.Json = False) -> None:
    """Every setting in force and where it comes from; secrets are hidden."""
    found = list(_settings())
    if json:
        shown.as_json(found)
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
    shown.columns(("VARIABLE", "VALUE", "SOURCE", "MEANING"), rows)


def _settings() -> Any:
    from penstock.settings import Settings

    settings = Settings()
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        # A SecretStr shows itself as stars.
        shown_value = value if isinstance(value, bool | int | float) else str(value)
        yield {
            "variable": f"PENSTOCK_{name.upper()}",
            "value": None if value is None else shown_value,
            "source": "environment" if name in settings.model_fields_set else "default",
            "description": field.description or "",
        }
