"""Write the reference pages that come from code: `python docs/generate.py`."""

from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt

from penstock.api.monitor.metric_table import METRICS
from penstock.catalog.fields import FIELDS
from penstock.catalog.problem_codes import CODES
from penstock.model.network.webhooks import TRIES
from penstock.model.policy import DEFAULT_RULES, JOB, NOT_FOUND, PERMANENT_CODES, RetryRule
from penstock.model.sources.expressions.functions import FUNCTIONS
from penstock.model.states import ITEM_MOVES, JOB_MOVES, TERMINAL_ITEM_STATUSES, TERMINAL_JOB_STATES
from penstock.settings import Settings
from penstock.settings_monitor import MonitorSettings

NOTE = "<!-- Written by docs/generate.py from the code; change it there. -->\n\n"


def metrics_page() -> str:
    lines = [
        "# Metrics",
        "",
        "`GET /metrics` shows these for Prometheus; admins only. Figures of workers are those that",
        "each worker reports every two seconds; figures of ended jobs are those of the whole",
        "installation, and stay when jobs are deleted. `docs/howto/watch.md` says what to look at.",
        "",
        "| metric | type | unit | labels | what |",
        "|---|---|---|---|---|",
    ]
    for name, metric in METRICS.items():
        labels = ", ".join(f"`{one}`" for one in metric.labels)
        about = metric.about
        lines.append(f"| `{name}` | {metric.kind} | {metric.unit} | {labels} | {about} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Most settings are limits: inside of them, the system adapts to what it measures.",
        "",
        "A setting is taken from the first of these places that has it: the options of the",
        "command, environment variables, a file `.env` in the working folder, a TOML file",
        "(`penstock.toml` in the working folder, or the file that `PENSTOCK_CONFIG` names), the",
        "defaults below. In TOML, names are in lower case and without the prefix: `port = 8600`.",
        "In variables, the entries of a list are separated by commas. A secret can be read from a",
        "file: `PENSTOCK_DATABASE_URL_FILE=/run/secrets/database`. Unknown names are refused.",
        "`penstock config show` prints the current settings and where each comes from.",
        "",
        "| variable | default | what |",
        "|---|---|---|",
    ]
    # What the monitor needs is inherited, and comes last.
    fields = sorted(
        Settings.model_fields.items(), key=lambda one: one[0] in MonitorSettings.model_fields
    )
    for name, field in fields:
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
        "A pause is a flag in addition to the state (shown as `paused`). A job whose due time has",
        "not come is shown as `delayed`. Only reprocessing changes items and jobs that have",
        "ended, as a new generation.",
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
        "Retries are the runs after the first one. Up to 20 % jitter is added to a delay. It is",
        "never shorter than the Retry-After of a provider.",
        "",
        "| code | retries | delay |",
        "|---|---|---|",
    ]
    lines += [f"| {code} | {_rule(rule)} |" for code, rule in DEFAULT_RULES.items()]
    lines.append(f"| NOT_FOUND (a lookup without a match) | {_rule(NOT_FOUND)} |")
    lines.append(f"| a whole job (ingest, finish) | {_rule(JOB)} |")
    lines.append(f"| a webhook delivery, for any failure | {_rule(TRIES)} |")
    lines += [f"| {code} | 0 | permanent |" for code in sorted(PERMANENT_CODES)]
    return NOTE + "\n".join(lines) + "\n"


def problems_page() -> str:
    lines = [
        "# Problems of rows",
        "",
        "An error makes a row invalid, a warning does not. Words in braces are replaced by values.",
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
        "A column can be mapped to the fields marked `yes`. Fields marked `many` accept several",
        "columns, as `images.2`, `images.3`. The last part of a name is enough if it is unique:",
        "`sku`.",
        "",
        "In the catalog (`GET /api/products/{id}`, `penstock products show`) each field also has",
        "its origin: the supplier's column, the original text, the rule that produced the value,",
        "the confidence of that rule, and job and row. A job that does not change a value does",
        "not change its origin, either. The history of a product lists what jobs changed and what",
        "was undone. See [undo, fix and export](howto/undo-fix-export.md).",
        "",
        "| field | kind | column | what |",
        "|---|---|---|---|",
    ]
    for field in FIELDS:
        column = "many" if field.many else "yes" if field.mapped else ""
        lines.append(f"| `{field.target}` | {field.kind} | {column} | {field.description} |")
    return NOTE + "\n".join(lines) + "\n"


def expressions_page() -> str:
    lines = [
        "# Functions of expressions",
        "",
        "Mapping rules of [sources](howto/add-a-source.md#expressions) may call these functions,",
        "and no others.",
        "",
        "| function | arguments | what |",
        "|---|---|---|",
    ]
    for name, rule in FUNCTIONS.items():
        many = str(rule.least) if rule.least == rule.most else f"{rule.least} to {rule.most}"
        lines.append(f"| `{name}` | {many} | {rule.description} |")
    return NOTE + "\n".join(lines) + "\n"


def runbook_html() -> str:
    """The runbook as a page that the API serves, so that alerts can link to its sections."""
    text = (Path(__file__).parent / "runbook.md").read_text("utf-8")
    # Other pages are not served; their names stay.
    text = re.sub(r"\[([^\]]+)\]\((?!#)[^)]+\)", r"\1", text)
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = re.sub(r"<(h[1-6])>(.*?)</\1>", _with_id, body)
    body = body.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    links = "\n".join(
        f'<li><a href="#{name}">{title}</a></li>'
        for name, title in re.findall(r'<h[23] id="([^"]+)">(.*?)</h[23]>', body)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runbook · Penstock</title>
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<nav aria-label="Sections">
<p class="brand"><a href="#main">Penstock <span>Runbook</span></a></p>
<ul>
{links}
</ul>
</nav>
<main id="main">
{body}</main>
</body>
</html>
"""


def _with_id(heading: re.Match[str]) -> str:
    name = re.sub(r"[^\w-]", "", heading[2].lower().replace(" ", "-"))
    return f'<{heading[1]} id="{name}">{heading[2]}</{heading[1]}>'


PAGES = {
    "expressions.md": expressions_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "states.md": states_page,
    "errors.md": errors_page,
    "problems.md": problems_page,
    "product.md": product_page,
    "../src/penstock/api/static/runbook.html": runbook_html,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), "utf-8")
