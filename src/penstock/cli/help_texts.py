"""Help texts: docstrings without the line breaks of the source code."""

from __future__ import annotations

import inspect

import typer


def unwrap_help(app: typer.Typer) -> None:
    """Let the terminal break the lines of every command's help, and not the source code."""
    for command in app.registered_commands:
        text = command.help or inspect.getdoc(command.callback) or ""
        command.help = unwrapped(text)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            unwrap_help(group.typer_instance)


def unwrapped(text: str) -> str:
    """Each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
