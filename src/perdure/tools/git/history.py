"""Looking at a repository: what has changed, and what came before. Nothing is written, not even git's own caches."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from perdure.core.policy import Deed
from perdure.tools.changes.protected import is_withheld
from perdure.tools.context import Context
from perdure.tools.git.hardening import PLAIN
from perdure.tools.git.names import readable
from perdure.tools.git.repository import Repository

FILES: Final = 5_000
"""Files that a look names."""
TEXT: Final = 500_000
"""Bytes of a difference."""
_STATES: Final = {
    "M": "modified", "T": "modified", "A": "added", "D": "deleted", "R": "renamed", "C": "copied", "U": "conflict",
}  # fmt: skip
_LOG: Final = "--format=%H%x00%P%x00%an%x00%ae%x00%aI%x00%s%x00%b%x00%x01"


async def status(repository: Repository, *, ignored: bool) -> dict[str, Any]:
    """The state of a working tree."""
    words = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignore-submodules=dirty"]
    said = await repository.ask(*words, f"--ignored={'matching' if ignored else 'no'}", "--no-ahead-behind")
    heads: dict[str, str] = {}
    files: list[dict[str, Any]] = []
    for row in _rows(said.out):
        if row[0].startswith("# branch."):
            key, _, value = row[0].removeprefix("# branch.").partition(" ")
            heads[key] = value
        else:
            files.append(_state(row))
    branch, commit = heads.get("head", "(detached)"), heads.get("oid", "(initial)")
    return {
        "branch": None if branch == "(detached)" else branch,
        "commit": None if commit == "(initial)" else commit,
        "clean": not [each for each in files if each["state"] != "ignored"],
        "files": files[:FILES],
        "count": len(files),
    }


def _rows(said: bytes) -> Iterator[list[str]]:
    """Rows of a status; one about a rename has the old name after it."""
    parts = iter([readable(part) for part in said.split(b"\0")[:-1]])
    for part in parts:
        yield [part, next(parts)] if part.startswith("2 ") else [part]


def _state(row: list[str]) -> dict[str, Any]:
    line = row[0]
    match line[0]:
        case "?":
            return {"path": line[2:], "state": "untracked"}
        case "!":
            return {"path": line[2:], "state": "ignored"}
        case "u":
            return {"path": line.split(" ", 10)[10], "state": "conflict"}
        case _:
            return _tracked(row)


def _tracked(row: list[str]) -> dict[str, Any]:
    """A file that git knows: what is staged, and what is not."""
    is_renamed = row[0][0] == "2"
    parts = row[0].split(" ", 9 if is_renamed else 8)
    staged, unstaged = parts[1]
    found = {
        "path": parts[-1],
        "state": _STATES.get(staged if unstaged == "." else unstaged, "modified"),
        "staged": staged != ".",
        "unstaged": unstaged != ".",
    }
    return {**found, "from": row[1]} if is_renamed else found


async def difference(
    repository: Repository, context: Context, between: Sequence[str], paths: Sequence[str]
) -> dict[str, Any]:
    """What differs between two commits, or a commit and the working tree. What may not be read is left out."""
    words = ("--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", *PLAIN, *between, "--", *paths)
    said = (await repository.ask("diff", *words)).out.split(b"\0")[:-1]
    states = {path: row.split(b" ")[4].decode() for row, path in zip(said[::2], said[1::2], strict=True)}
    hidden = [each for each in states if _is_hidden(context, readable(each))]
    seen = [each for each in states if each not in set(hidden)]
    context.guard.check(Deed("read", readable(each)) for each in seen)
    text, was_cut = await _patch(repository, between, paths, hidden) if seen else ("", False)
    return {
        "files": [
            {"path": readable(each), "change": _STATES.get(states[each][0], "modified")} for each in seen[:FILES]
        ],
        "count": len(seen),
        "hidden": [readable(each) for each in hidden[:FILES]],
        "text": text,
        "cut": was_cut,
    }


def _is_hidden(context: Context, path: str) -> bool:
    """Whether it may not be shown. Where secrets are kept nobody is asked about each file: there are too many."""
    return is_withheld(path, context.guard.layers) or context.guard.verdict(Deed("read", path)).verdict == "deny"


async def _patch(
    repository: Repository, between: Sequence[str], paths: Sequence[str], hidden: Sequence[bytes]
) -> tuple[str, bool]:
    left_out = [f":(top,exclude,literal){each.decode('utf-8', 'surrogateescape')}" for each in hidden]
    shape = ("--no-renames", "--submodule=short", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/")
    words = ("diff", "--patch", *shape, *PLAIN, *between, "--", *paths, *left_out)
    said = await repository.ask(*words, most=TEXT, cut=True)
    return said.out.decode("utf-8", "backslashreplace"), said.was_cut


async def commits(
    repository: Repository, start: str, until: str, paths: Sequence[str], count: int
) -> list[dict[str, Any]]:
    """Commits, the newest first."""
    limits = [f"--max-count={count}", start, *([f"^{until}"] if until else [])]
    words = ("log", _LOG, "--no-show-signature", "--no-patch", "--no-follow", *PLAIN, *limits, "--", *paths)
    rows = (await repository.ask(*words)).out.decode("utf-8", "backslashreplace").split("\x00\x01")
    return [_commit(row.lstrip("\n")) for row in rows if row.strip("\n")]


def _commit(row: str) -> dict[str, Any]:
    commit, parents, name, address, date, subject, body = row.split("\0")
    return {
        "commit": commit, "parents": parents.split(), "author": f"{name} <{address}>", "date": date,
        "subject": subject, "body": body.rstrip("\n"),
    }  # fmt: skip
