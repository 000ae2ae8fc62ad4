"""Names of files in places: which are accepted, and which a pattern selects."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

MAX_NAME = 500
MAX_DEPTH = 8
# Where files are moved after they were taken; its files are never listed.
DONE_FOLDER = "done"
# Ends the names of files that were renamed after they were taken; they are never listed.
TAKEN_SUFFIX = ".taken"
# A file with this suffix says that the file without it is complete.
DONE_MARKER = ".done"
_MAX_NUMBERED = 1000
# Suffixes that programs give to files they are still writing.
_UNFINISHED = (".part", ".partial", ".tmp", ".temp", ".filepart", ".crdownload", "~")


def check_name(name: str) -> str | None:
    """Why a name is refused; None if it may be used."""
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME:
        return f"it is longer than {MAX_NAME} characters"
    if "\\" in name or any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "it contains a backslash or a control character"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it is no plain relative path"
    if len(parts) > MAX_DEPTH + 1:
        return f"it is more than {MAX_DEPTH} folders deep"
    return None


def is_unfinished(name: str) -> bool:
    """Whether the name says that the file is hidden or still being written."""
    base = name.rpartition("/")[2]
    return base.startswith(".") or base.lower().endswith(_UNFINISHED)


def numbered_names(name: str) -> Iterator[str]:
    """The name, and further ones for when it is taken."""
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    yield name
    for number in range(2, _MAX_NUMBERED):
        numbered = f"{stem} ({number}){dot}{suffix}" if stem else f"{base} ({number})"
        yield f"{folder}{slash}{numbered}"


def patterns_of(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def depth_of(pattern: str) -> int:
    """How many levels of folders a pattern reaches."""
    return max(
        MAX_DEPTH if "**" in one else min(one.count("/"), MAX_DEPTH) for one in patterns_of(pattern)
    )


def matches(pattern: str, name: str) -> bool:
    """Whether one of the patterns, separated by commas, selects the name. `*` and `?` do not match
    `/`; `**` matches any number of folders. Case does not matter."""
    segments = name.casefold().split("/")
    return any(_matches_path(one.casefold().split("/"), segments) for one in patterns_of(pattern))


def _matches_path(pattern: list[str], segments: list[str]) -> bool:
    # Which ends of the name the pattern so far can reach, so that no combination is tried twice.
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(segments) + 1)) if reached else set()
        else:
            reached = {
                at + 1 for at in reached if at < len(segments) and _matches_part(part, segments[at])
            }
    return len(segments) in reached


def _matches_part(pattern: str, text: str) -> bool:
    """`*` and `?`; goes back to the last `*` only, so the steps are at most a product."""
    at = place = 0
    star, mark = -1, 0
    while place < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, place, at + 1
        elif at < len(pattern) and pattern[at] in ("?", text[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(char == "*" for char in pattern[at:])


def is_selected(name: str) -> bool:
    """Whether a watcher looks at the name at all: not at hidden and unfinished files, markers, and
    files that were moved away or renamed."""
    return not (
        is_unfinished(name)
        or name.endswith((DONE_MARKER, TAKEN_SUFFIX))
        or name.startswith(f"{DONE_FOLDER}/")
    )
