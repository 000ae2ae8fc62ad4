"""The rules of the architecture that a machine can count."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.house.places import ROOT, files, lines_of, parsed, source
from tests.house.ratchet import Counts, Rule

__all__ = ["ROOT", "RULES"]

MOST_FILES = 25
# Migrations are numbered and only ever added.
_ENDLESS_FOLDERS = ("store/migrations",)


def large_folders(root: Path) -> Counts:
    """Files per folder, where there are more than 25."""
    base = source(root)
    counts = Counter(path.parent.relative_to(base).as_posix() for path in files(base, "**/*"))
    return {
        folder: count
        for folder, count in counts.items()
        if count > MOST_FILES and folder not in _ENDLESS_FOLDERS
    }


MOST_LINES = 50


def long_functions(root: Path) -> Counts:
    """Functions of more than 50 lines, by file."""
    found: Counter[str] = Counter()
    for path in files(source(root), "**/*.py"):
        found[path.name] += sum(
            (node.end_lineno or node.lineno) - node.lineno >= MOST_LINES
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
    return +found


_MAY_IMPORT_ASYNCPG = re.compile(r"(store/|supervisor/|brokers/postgres)")


def asyncpg_imports(root: Path) -> Counts:
    base = source(root)
    found: Counter[str] = Counter()
    for path in files(base, "**/*.py"):
        if _MAY_IMPORT_ASYNCPG.match(path.relative_to(base).as_posix()):
            continue
        for node in ast.walk(parsed(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            # By name alone: a file that moves keeps its count.
            found[path.name] += sum(name.partition(".")[0] == "asyncpg" for name in names)
    return +found


# Effects and the catalog's tables store documents of products, so their SQL may name the keys.
_MAY_NAME_KEYS = re.compile(r"effects/|(^|/)(products?|catalog|missing)[^/]*$|(^|/)catalog/")
# Keys of the engine's own documents: errors, events and attempts of deliveries.
_ENGINE_KEYS = frozenset({"at", "code", "message", "pipeline", "stage"})
_OPERATOR = re.compile(r"(?:->>?|#>>?|[^\s(]\s*\?[|&]?)\s*'([^']*)'")
_BUILD_OBJECT = re.compile(r"jsonb?_build_object\s*\(", re.IGNORECASE)
_QUOTED = re.compile(r"'(\w+)'\s*,")


def document_keys(text: str) -> list[str]:
    """Keys that SQL reads from JSON or puts into it, but for the engine's own."""
    keys = [key for path in _OPERATOR.findall(text) for key in re.findall(r"\w+", path)]
    for call in _BUILD_OBJECT.finditer(text):
        keys += _QUOTED.findall(_arguments(text[call.end() :]))
    return [key for key in keys if key not in _ENGINE_KEYS and not key.isdigit()]


def _arguments(text: str) -> str:
    """Up to the parenthesis that ends the call, without what inner calls contain."""
    depth, kept = 0, ""
    for character in text:
        if character == ")" and depth == 0:
            break
        depth += (character == "(") - (character == ")")
        kept += character if depth == 0 else ""
    return kept


def document_keys_in_sql(root: Path) -> Counts:
    base = source(root)
    found: Counter[str] = Counter()
    for path in files(base / "store", "**/*.sql"):
        place = path.relative_to(base).as_posix()
        if _MAY_NAME_KEYS.search(place) or "migrations/" in place or path.name == "schema.sql":
            continue
        statements = (line.partition("--")[0] for line in lines_of(path))
        found[path.name] += len(document_keys("\n".join(statements)))
    return +found


# Words of the past and what to write instead (STYLE, "Plain English").
WORDS = {
    "undertaker": "LocalWorkerReaper",
    "hurry": "retry_now",
    "turnstile": "ConcurrencyGate",
    "queue_?glance": "QueueDepthCache",
    "doorman": "StreamAuthorizer",
    "recall": "result_cache",
    "remembered": "lookup_cache",
    "lately": "last_hour",
    "wellness": "health",
    "said_of_prices": "price_context",
    "synonym_abroad": "synonyms_europe",
    "lean": "needs_brief_only",
    "learns": "needs_full_input",
    "breath": "YIELD_EVERY",
    "try_again": "TRANSIENT_DB_ERRORS",
    "whoever": "the process, caller or row by its name",
    "nobody": "no process, no user, no row",
    "somebody": "a user, a process, a transaction",
    "everybody": "all users, all processes",
    "anybody": "any user, any process",
    "in vain": "without success, or what happened",
    "amid": "during, with",
    "heed": "obey, check",
    "anew": "again",
    "put right": "correct",
    "stood there": "original value",
    "came of it": "result",
    "is away": "is not available",
}
# Words that are names: a user of Unix, and a setting of jobs that are stored already.
_NAMES = {
    "src/penstock/supervisor/identity.py": "nobody",
    "src/penstock/pipelines/noop.py": "learns",
}
# What is released is not edited; `schema.sql` is the sum of the migrations.
_UNCHANGED = re.compile(r"store/(migrations/|schema\.sql$)")
_WORDED = ("src/penstock/**/*.py", "src/penstock/**/*.sql", "docs/**/*.md", "docs/**/*.py",
           "frontend/src/**/*.ts", "frontend/src/**/*.tsx")  # fmt: skip


def words_of_the_past(root: Path) -> Counts:
    found: Counter[str] = Counter()
    # One pattern for all words: few files have any of them.
    any_word = re.compile(rf"(?<![a-z])(?:{'|'.join(WORDS)})(?![a-z])")
    for path in files(root, *_WORDED):
        place = path.relative_to(root).as_posix()
        if _UNCHANGED.search(place):
            continue
        for said in any_word.findall(path.read_text("utf-8").lower()):
            word = next(one for one in WORDS if re.fullmatch(one, said))
            if _NAMES.get(place) != word:
                found[word] += 1
    return +found


# Where a change is decided, its entry in the audit log is written, too.
_MAY_AUDIT = re.compile(r"(app|accounts|webhooks)/|store/accounts/audit_log\.py$")


def audit_calls(root: Path) -> Counts:
    base = source(root)
    found: Counter[str] = Counter()
    for path in files(base, "**/*.py"):
        place = path.relative_to(base).as_posix()
        if _MAY_AUDIT.match(place):
            continue
        found[place] += sum(
            isinstance(node, ast.Call) and _name_of(node.func) == "audit"
            for node in ast.walk(parsed(path))
        )
    return +found


def _name_of(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


# Modules that may read records of the database driver by column.
_MAY_READ_RECORDS = re.compile(r"(store|supervisor|brokers)/")
# A connection that goes through a pooler gives what the driver gives.
_GIVES_RECORDS = "store/pooler.py"
_FETCH = re.compile(r"\bconn\.fetch(?:row)?\(")
# JSON documents are not records.
_DOCUMENT = re.compile(r"(?:dict|Mapping)\[str, Any\]")


def untyped_records(root: Path) -> Counts:
    """Reads of records outside of store/, and public functions and fields there that may pass
    records on, because their type is `Any`."""
    base = source(root)
    found: Counter[str] = Counter()
    for path in files(base, "**/*.py"):
        place, text = path.relative_to(base).as_posix(), path.read_text("utf-8")
        if not _MAY_READ_RECORDS.match(place):
            found[place] += len(_FETCH.findall(text))
        elif place.startswith("store/") and place != _GIVES_RECORDS:
            found[place] += sum(map(_is_untyped, _public_types(parsed(path))))
    return +found


def _public_types(place: ast.Module | ast.ClassDef) -> Iterator[ast.expr]:
    """Types of what public functions return, and of public fields."""
    for node in place.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public_types(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            if not node.name.startswith("_"):
                yield node.returns
        elif isinstance(node, ast.AnnAssign) and isinstance(place, ast.ClassDef):
            yield node.annotation


def _is_untyped(annotation: ast.expr) -> bool:
    return re.search(r"\bAny\b", _DOCUMENT.sub("", ast.unparse(annotation))) is not None


RULES = (
    Rule(
        "files per folder",
        f"A folder has at most {MOST_FILES} files: divide it into sub-folders by subject.",
        large_folders,
    ),
    Rule(
        "long functions",
        f"A function has at most {MOST_LINES} lines: give its steps functions of their own.",
        long_functions,
    ),
    Rule(
        "imports of asyncpg",
        "Only store/, supervisor/ and brokers/postgres import asyncpg: let store/ give frozen"
        " dataclasses and errors of its own.",
        asyncpg_imports,
    ),
    Rule(
        "keys of pipelines' documents in SQL",
        "The engine's SQL names no key of a pipeline's documents: give what it needs a column with"
        " a generic name, or move the statement to store/effects/ or the catalog's files.",
        document_keys_in_sql,
    ),
    Rule(
        "audit entries outside of use cases",
        "Only app/, accounts/ and webhooks/ write the audit log: let the route or command call a"
        " use case there, which makes the change and audits it.",
        audit_calls,
    ),
    Rule(
        "records that leave store",
        "Let functions of store/ return frozen dataclasses, and read their fields. The type of a"
        " JSON value is `Json` (penstock.store.database).",
        untyped_records,
    ),
    Rule(
        "words to avoid",
        "Write plain English; tests/house/rules.py says what to write instead of each word.",
        words_of_the_past,
    ),
)
