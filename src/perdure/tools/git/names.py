"""Names that are handed to git: each is held to a pattern that leaves nothing to be read in a second way."""

import re
from typing import Final

from perdure.tools.git.refusing import NAME, refusal

HEADS: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
KEPT: Final = "refs/perdure/keep/"
"""Where commits are held that nothing else holds any more, so that they can be brought back."""
SPEC: Final = ":(top,glob)"
"""How git is told that what follows is a path or a pattern from the root."""
LONGEST: Final = 200
_NAME: Final = re.compile(r"[A-Za-z0-9][\w./-]*", re.ASCII)
_FLAW: Final = re.compile(r"\.\.|//|/\.|\.lock(/|$)|[./]$")
_REVISION: Final = re.compile(r"(?P<name>[A-Za-z0-9][\w./-]*)(?P<back>[~^][0-9]{0,4}){0,8}", re.ASCII)
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_WORDS: Final = "write letters, digits and . _ - / only, a letter or digit first"


def branch_ref(name: str) -> str:
    """The whole name of a branch."""
    return HEADS + _checked(name.removeprefix(HEADS), "branch")


def tag_ref(name: str) -> str:
    """The whole name of a tag."""
    return TAGS + _checked(name.removeprefix(TAGS), "tag")


def _checked(name: str, kind: str) -> str:
    fits = _NAME.fullmatch(name) and len(name) <= LONGEST and not _FLAW.search(name)
    if not fits or name == "HEAD" or is_id(name) or name.startswith("refs/"):
        raise refusal(NAME, "invalid", f"{_shown(name)} is no name for a {kind}: {_WORDS}", name=_shown(name))
    return name


def revision(text: str) -> str:
    """Something that names a commit: an id, a branch, a tag, `HEAD`, and steps back from it (`~2`, `^`)."""
    found = _REVISION.fullmatch(text)
    if not found or len(text) > LONGEST or _FLAW.search(found["name"]):
        hint = "write an id, a branch, a tag or HEAD, with ~n for steps back"
        raise refusal(NAME, "invalid", f"{_shown(text)} names no commit: {hint}", name=_shown(text))
    return text


def pathspec(pattern: str) -> str:
    """A path or a pattern from the root of the tree, as git takes it. A directory stands for all that is in it."""
    parts = pattern.rstrip("/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in pattern or len(pattern) > LONGEST * 20:
        hint = "write it from the root of the workspace, without . and .., as in src/**/*.py"
        raise refusal(NAME, "invalid", f"{_shown(pattern)} is no path: {hint}", name=_shown(pattern))
    return f"{SPEC}{pattern.rstrip('/')}"


def is_id(text: str) -> bool:
    """Whether it is the whole id of an object."""
    return _ID.fullmatch(text) is not None


def readable(name: bytes) -> str:
    """The name of a file as text; what is not UTF-8 is written out."""
    return name.decode("utf-8", "backslashreplace")


def _shown(name: str) -> str:
    return ascii(name[:80])
