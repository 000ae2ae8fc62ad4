"""Where settings come from: flags, then the environment, then `.env`, then a TOML file. A name that
no setting has is refused wherever it stands, since a misspelt one would be ignored in silence."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from penstock.model.errors import BadInput

PREFIX = "PENSTOCK_"
CONFIG = "PENSTOCK_CONFIG"
ENV_FILE = Path(".env")
TOML_FILE = Path("penstock.toml")
# Read elsewhere: before there are settings, or for tests alone.
_READ_ELSEWHERE = {
    CONFIG,
    "PENSTOCK_PARENT_FD",
    "PENSTOCK_PG_NO_NAMESPACE",
    "PENSTOCK_ALLOW_CRASH",
    "PENSTOCK_FAILPOINT",
}
# What tests and benchmarks tell their own processes.
_NOT_OURS = ("PENSTOCK_TEST_", "PENSTOCK_BENCH_")


class Sources(PydanticBaseSettingsSource):
    """All but the flags, the first that says something winning. An empty text says nothing."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        super().__init__(settings)
        self._fields: Mapping[str, FieldInfo] = settings.model_fields

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, (value, _) in self.found().items()}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        value, _ = self.found().get(field_name, (None, ""))
        return value, field_name, False

    def found(self) -> dict[str, tuple[Any, str]]:
        """What is set, and where: `environment`, `.env`, or the name of a file."""
        written = {name: text for name, text in dotenv_values(ENV_FILE).items() if text is not None}
        layers = (
            self._of_variables(os.environ, "environment"),
            self._of_variables(written, str(ENV_FILE)),
            self._of_toml(Path(os.environ.get(CONFIG) or written.get(CONFIG) or TOML_FILE)),
        )
        found: dict[str, tuple[Any, str]] = {}
        for layer in layers:
            for name, told in layer.items():
                found.setdefault(name, told)
        return found

    def _of_variables(self, variables: Mapping[str, str], where: str) -> dict[str, tuple[Any, str]]:
        found: dict[str, tuple[Any, str]] = {}
        for variable, text in variables.items():
            if not variable.startswith(PREFIX) or variable in _READ_ELSEWHERE:
                continue
            name = variable.removeprefix(PREFIX).lower()
            if name in self._fields:
                if text:
                    found[name] = (text, where)
            elif name.removesuffix("_file") in self._secrets():
                if text:
                    self._check_once(name.removesuffix("_file"), variables)
                    found[name.removesuffix("_file")] = (_content(variable, text), f"file {text}")
            elif not variable.startswith(_NOT_OURS):
                raise _refused(f"{where}: {_unknown(variable, self._fields)}")
        return found

    def _of_toml(self, path: Path) -> dict[str, tuple[Any, str]]:
        try:
            said = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            if path != TOML_FILE:
                raise _refused(f"{CONFIG}: there is no file {path}.") from None
            return {}
        except (OSError, ValueError) as error:
            raise _refused(f"{path} cannot be read: {error}.") from error
        for name in said:
            if name not in self._fields:
                raise _refused(f"{path}: {_unknown(name, self._fields)}")
        return {name: (value, str(path)) for name, value in said.items()}

    def _secrets(self) -> set[str]:
        return {name for name, field in self._fields.items() if is_secret(field)}

    @staticmethod
    def _check_once(name: str, variables: Mapping[str, str]) -> None:
        if variables.get(f"{PREFIX}{name.upper()}"):
            one = f"{PREFIX}{name.upper()}"
            raise _refused(f"{one} and {one}_FILE are both set: keep one of them.")


def is_secret(field: FieldInfo) -> bool:
    return SecretStr in (field.annotation, *getattr(field.annotation, "__args__", ()))


def _refused(message: str) -> BadInput:
    return BadInput("INVALID_CONFIG", message)


def _content(variable: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise _refused(f"{variable}: {path} cannot be read: {error}.") from error


def _unknown(name: str, known: Iterable[str]) -> str:
    """Compared without the prefix, in which all variables are alike."""
    plain = name.removeprefix(PREFIX).lower()
    hint = " `penstock config show` lists all there are."
    for near in difflib.get_close_matches(plain, list(known), n=1):
        shown = near if name == plain else f"{PREFIX}{near.upper()}"
        hint = f" Did you mean {shown}?"
    return f"there is no setting {name}.{hint}"
