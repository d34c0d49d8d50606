"""Unified diffs, as `diff -u` and `git diff` write them. Numbers must be right; where they are off, lines decide."""

import re
from collections.abc import Sequence
from typing import Final

from perdure.tools.changes.diffing import NO_NEWLINE
from perdure.tools.changes.hunks import BadPatch, FilePatch, Hunk

_SPAN: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_NOTHING: Final = "/dev/null"
_HEADS: Final = (
    "index ", "similarity index ", "dissimilarity index ", "old mode ", "new mode ", "new file mode ",
    "deleted file mode ", "rename from ", "rename to ",
)  # fmt: skip
_MODES: Final = {"100644": 0o644, "100755": 0o755}


def read_unified(text: str) -> list[FilePatch]:
    """What a diff does, file by file. `BadPatch` says on which line it cannot be read."""
    return _Reader(text.removesuffix("\n").split("\n")).read()


class _Reader:
    """Reads line by line; `_at` is the line that comes next."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines: Final = lines
        self._at = 0

    def read(self) -> list[FilePatch]:
        found: list[FilePatch] = []
        while self._at < len(self._lines):
            if self._peek().startswith(("diff --git ", "--- ")):
                found.append(self._file())
            elif self._peek().startswith(("@@", "+++ ")):
                raise self._bad("it belongs to no file; `--- a/path` and `+++ b/path` come first")
            else:  # what people write around a diff
                self._at += 1
        if not found:
            raise BadPatch(1, "there is no `--- a/path` in it, and no `*** Begin Patch`")
        return found

    def _file(self) -> FilePatch:
        line, heads = self._at + 1, self._heads()
        old, new = self._names(heads)
        if "copy from" in heads:
            raise BadPatch(line, "copies are not supported; write a new file")
        if old == new == _NOTHING or not (old and new):
            raise BadPatch(line, "it names no file")
        hunks = self._hunks()
        kind = "add" if old == _NOTHING else "delete" if new == _NOTHING else "update"
        path = new if kind == "add" else old
        mode = self._mode(heads, line)
        if not hunks and mode is None and old == new:
            raise self._bad(f"nothing is changed in {path!r}")
        return FilePatch(kind, path, line, hunks, new if kind == "update" and new != old else "", mode)

    # --------------------------------------------------------------------------- heads

    def _heads(self) -> dict[str, str]:
        """The lines of git before the hunks, by their first words."""
        found: dict[str, str] = {}
        if self._peek().startswith("diff --git "):
            found["git"] = self._next().removeprefix("diff --git ")
        while self._at < len(self._lines) and (head := self._head()):
            name, value = head
            found[name] = value
            self._at += 1
        return found

    def _head(self) -> tuple[str, str] | None:
        line = self._peek()
        if line.startswith(("Binary files ", "GIT binary patch")):
            raise self._bad("binary files are written whole, with files.write and `base64`")
        start = next((each for each in (*_HEADS, "copy from ", "copy to ") if line.startswith(each)), None)
        return None if start is None else (start.strip(), line.removeprefix(start))

    def _names(self, heads: dict[str, str]) -> tuple[str, str]:
        if self._at < len(self._lines) and self._peek().startswith("--- "):
            old = self._name(self._next().removeprefix("--- "))
            if self._at >= len(self._lines) or not self._peek().startswith("+++ "):
                raise self._bad("after `--- a/path` comes `+++ b/path`")
            new = self._name(self._next().removeprefix("+++ "))
            return _stripped(old, new)
        if "rename from" in heads and "rename to" in heads:
            return self._name(heads["rename from"]), self._name(heads["rename to"])
        return self._names_of_git(heads)

    def _names_of_git(self, heads: dict[str, str]) -> tuple[str, str]:
        """Both names are the same there, so the line is cut in its middle."""
        whole = heads.get("git", "")
        half = len(whole) // 2
        old, new = _stripped(self._name(whole[:half]), self._name(whole[half + 1 :]))
        if old != new:
            raise self._bad("the names of the file cannot be told apart; write `--- a/path` and `+++ b/path`")
        return (
            (_NOTHING, new)
            if "new file mode" in heads
            else (old, _NOTHING)
            if "deleted file mode" in heads
            else (old, new)
        )

    def _name(self, text: str) -> str:
        """A path without the time that diff(1) writes behind it, and without the quotes of git."""
        plain = text.partition("\t")[0].removesuffix("\r")
        quoted = _QUOTED.fullmatch(plain)
        if quoted is None:
            return plain
        try:
            return _ESCAPE.sub(_letter, quoted[1].encode()).decode()
        except (UnicodeError, ValueError):
            raise BadPatch(self._at, f"{plain[:80]} is no path") from None

    def _mode(self, heads: dict[str, str], line: int) -> int | None:
        written = heads.get("new file mode") or heads.get("new mode")
        if written is None:
            return None
        if written.strip() not in _MODES:
            raise BadPatch(line, f"mode {written.strip()[:20]!r} cannot be set; it is 100644 or 100755")
        return _MODES[written.strip()]

    # --------------------------------------------------------------------------- hunks

    def _hunks(self) -> tuple[Hunk, ...]:
        found: list[Hunk] = []
        while self._at < len(self._lines) and self._peek().startswith("@@"):
            found.append(self._hunk())
        return tuple(found)

    def _hunk(self) -> Hunk:
        line, span = self._at + 1, _SPAN.fullmatch(self._peek().removesuffix("\r"))
        if span is None:
            raise self._bad("it must be as in `@@ -12,7 +12,8 @@`")
        self._at += 1
        olds, news = int(span[2] or 1), int(span[4] or 1)
        old, new = self._sides(olds, news)
        if old == new:
            raise BadPatch(line, "the hunk changes nothing")
        return Hunk(line, "".join(old), "".join(new), int(span[1]))

    def _sides(self, olds: int, news: int) -> tuple[list[str], list[str]]:
        """So many old lines and new lines as the head of the hunk says, no more and no fewer."""
        old, new = list[str](), list[str]()
        while len(old) < olds or len(new) < news:
            sign, rest = self._signed(olds - len(old), news - len(new))
            old += [rest] if sign != "+" else []
            new += [rest] if sign != "-" else []
            self._cut(sign, old, new)
        if self._at < len(self._lines) and self._peek()[:1] in (" ", "+") and self._peek().strip():
            raise self._bad(f"the hunk has more lines than its head says: {olds} old, {news} new")
        return old, new

    def _signed(self, olds: int, news: int) -> tuple[str, str]:
        if self._at >= len(self._lines):
            raise self._bad(f"the hunk is too short: {olds} old and {news} new lines are missing")
        line = self._peek() or " "
        sign = line[0]
        if sign not in " +-" or (sign != "+" and olds < 1) or (sign != "-" and news < 1):
            raise self._bad(f"the hunk does not fit its head: {olds} old and {news} new lines are missing here")
        self._at += 1
        return sign, f"{line[1:]}\n"

    def _cut(self, sign: str, old: list[str], new: list[str]) -> None:
        """What git writes behind a last line without a newline."""
        if self._at < len(self._lines) and self._peek().startswith(NO_NEWLINE[:2]):
            self._at += 1
            for side in (*((old,) if sign != "+" else ()), *((new,) if sign != "-" else ())):
                side[-1] = side[-1].removesuffix("\n")

    def _peek(self) -> str:
        return self._lines[self._at]

    def _next(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _bad(self, why: str) -> BadPatch:
        return BadPatch(min(self._at + 1, len(self._lines)), why)


def _letter(found: "re.Match[bytes]") -> bytes:
    code = found[1]
    return bytes([_LETTERS[code] if code in _LETTERS else int(code, 8)])


def _stripped(old: str, new: str) -> tuple[str, str]:
    """Without `a/` and `b/`, where both have them."""
    fits = (old == _NOTHING or old.startswith("a/")) and (new == _NOTHING or new.startswith("b/"))
    return (old.removeprefix("a/"), new.removeprefix("b/")) if fits else (old, new)
