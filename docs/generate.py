"""Write the reference pages that come from code: `python docs/generate.py`."""

from __future__ import annotations

from pathlib import Path

from penstock.catalog.fields import FIELDS
from penstock.catalog.problem_codes import CODES
from penstock.model.network.webhooks import TRIES
from penstock.model.policy import DEFAULT_RULES, JOB, NOT_FOUND, PERMANENT_CODES, RetryRule
from penstock.model.states import ITEM_MOVES, JOB_MOVES, TERMINAL_ITEM_STATUSES, TERMINAL_JOB_STATES
from penstock.settings import Settings

NOTE = "<!-- Written by docs/generate.py from the code; change it there. -->\n\n"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Bounds, not constants: the system moves between them by what it measures.",
        "",
        "Flags of a command go before environment variables, these before a file `.env` in the",
        "working folder, that before a TOML file (`penstock.toml` there, or the one that",
        "`PENSTOCK_CONFIG` names), that before the defaults. In TOML names are small and without",
        "the prefix: `port = 8600`. Lists are parted by commas in variables. A secret may stand in",
        "a file: `PENSTOCK_DATABASE_URL_FILE=/run/secrets/database`. A name that no setting has is",
        "refused. `penstock config show` tells what is in force and where it comes from.",
        "",
        "| variable | default | what |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        default = field.default
        if isinstance(default, tuple):
            default = ",".join(default)
        shown = "" if default in (None, "") else f"`{default}`"
        if field.default_factory:
            shown = "by machine"
        lines.append(f"| `PENSTOCK_{name.upper()}` | {shown} | {field.description} |")
    return NOTE + "\n".join(lines) + "\n"


def states_page() -> str:
    lines = ["# States", ""]
    for title, moves, ends in (
        ("Jobs", JOB_MOVES, TERMINAL_JOB_STATES),
        ("Items", ITEM_MOVES, TERMINAL_ITEM_STATUSES),
    ):
        lines += [f"## {title}", "", "```mermaid", "stateDiagram-v2"]
        lines.append(f"    [*] --> {next(iter(moves))}")
        lines += [f"    {state} --> {to}" for state, tos in moves.items() for to in sorted(tos)]
        lines += [f"    {state} --> [*]" for state in sorted(ends)]
        lines += ["```", ""]
    lines += [
        "A pause is a flag beside the state (shown as `paused`), a due time ahead is shown as",
        "`delayed`. Terminal items and jobs are left only by reprocessing, as a new generation.",
        "",
    ]
    return NOTE + "\n".join(lines)


def _rule(rule: RetryRule) -> str:
    growth = "linear" if rule.factor == 1.0 else f"× {rule.factor:g}"
    return f"{rule.retries} | {rule.base_ms / 1000:g} s {growth}, at most {rule.cap_ms / 1000:g} s"


def errors_page() -> str:
    lines = [
        "# Errors and retries",
        "",
        "Retries are runs after the first. A delay gets up to 20 % of jitter and is never shorter",
        "than a provider's Retry-After.",
        "",
        "| code | retries | delay |",
        "|---|---|---|",
    ]
    lines += [f"| {code} | {_rule(rule)} |" for code, rule in DEFAULT_RULES.items()]
    lines.append(f"| NOT_FOUND (a lookup without a match) | {_rule(NOT_FOUND)} |")
    lines.append(f"| a whole job (ingest, finish) | {_rule(JOB)} |")
    lines.append(f"| a delivery of a webhook, whatever failed | {_rule(TRIES)} |")
    lines += [f"| {code} | 0 | permanent |" for code in sorted(PERMANENT_CODES)]
    return NOTE + "\n".join(lines) + "\n"


def problems_page() -> str:
    lines = [
        "# Problems of rows",
        "",
        "An error makes a row invalid, a warning does not. Words in braces are filled in.",
        "",
        "| code | severity | what is wrong | what to do |",
        "|---|---|---|---|",
    ]
    for name, code in CODES.items():
        message = code.message.replace("!r}", "}")
        lines.append(f"| {name} | {code.severity} | {message} | {code.advice} |")
    return NOTE + "\n".join(lines) + "\n"


def product_page() -> str:
    lines = [
        "# The normalised product",
        "",
        "A column can be mapped to the fields marked `yes`; those marked `many` take several, as",
        "`images.2`, `images.3`. The last part of a name is enough where it is clear: `sku`.",
        "",
        "In the catalog (`GET /api/products/{id}`, `penstock products show`) each field also says",
        "where its value came from: the supplier's column, the text that stood there, the rule",
        "that made the value of it, how sure that rule is, and the job and row it came with. A",
        "job that leaves a value as it is leaves its origin, too. What jobs changed, and what was",
        "undone, is the product's history. See [undo, fix and export](howto/undo-fix-export.md).",
        "",
        "| field | kind | column | what |",
        "|---|---|---|---|",
    ]
    for field in FIELDS:
        column = "many" if field.many else "yes" if field.mapped else ""
        lines.append(f"| `{field.target}` | {field.kind} | {column} | {field.description} |")
    return NOTE + "\n".join(lines) + "\n"


PAGES = {
    "settings.md": settings_page,
    "states.md": states_page,
    "errors.md": errors_page,
    "problems.md": problems_page,
    "product.md": product_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), "utf-8")
