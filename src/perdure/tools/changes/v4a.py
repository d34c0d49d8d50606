"""Patches as models write them: `*** Begin Patch`, files by name, hunks found by their lines and not by numbers."""

from collections.abc import Sequence
from typing import Final

from perdure.tools.changes.hunks import BadPatch, FilePatch, Hunk

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
_ADD: Final = "*** Add File: "
_DELETE: Final = "*** Delete File: "
_UPDATE: Final = "*** Update File: "
_MOVE: Final = "*** Move to: "
_EOF: Final = "*** End of File"


def read_v4a(text: str) -> list[FilePatch]:
    """What a patch does, file by file. `BadPatch` says on which line it cannot be read."""
    return _Reader(text.removesuffix("\n").split("\n")).read()


class _Reader:
    """Reads line by line; `_at` is the line that comes next."""

    def __init__(self, lines: Sequence[str]) -> None:
        ends = all(each.endswith("\r") for each in lines[:-1]) and len(lines) > 1
        self._lines: Final = [each.removesuffix("\r") for each in lines] if ends else lines
        self._at = 0

    def read(self) -> list[FilePatch]:
        self._expect(BEGIN)
        found: list[FilePatch] = []
        while self._peek() != END:
            found.append(self._file())
        self._at += 1
        if self._at < len(self._lines) and any(each.strip() for each in self._lines[self._at :]):
            raise self._bad(f"nothing may follow {END!r}")
        if not found:
            raise BadPatch(1, "the patch changes no file")
        return found

    def _file(self) -> FilePatch:
        line, at = self._next(), self._at
        for start, read in ((_ADD, self._added), (_DELETE, self._deleted), (_UPDATE, self._updated)):
            if line.startswith(start):
                return read(line.removeprefix(start).strip(), at)
        self._at -= 1
        raise self._bad(f"{line[:80]!r} is none of {_ADD!r}, {_DELETE!r}, {_UPDATE!r}, {END!r}")

    def _added(self, path: str, at: int) -> FilePatch:
        lines: list[str] = []
        while not self._peek().startswith("*** "):
            if not self._peek().startswith("+"):
                raise self._bad("each line of a new file begins with +")
            lines.append(self._next()[1:] + "\n")
        return FilePatch("add", path, at, (Hunk(at, "", "".join(lines)),))

    def _deleted(self, path: str, at: int) -> FilePatch:
        return FilePatch("delete", path, at)

    def _updated(self, path: str, at: int) -> FilePatch:
        to = self._next().removeprefix(_MOVE).strip() if self._peek().startswith(_MOVE) else ""
        hunks: list[Hunk] = []
        while not self._peek().startswith("*** "):
            hunks.append(self._hunk(is_first=not hunks))
        if not hunks and not to:
            raise self._bad(f"nothing is changed in {path!r}")
        return FilePatch("update", path, at, tuple(hunks), to, keeps_end=True)

    def _hunk(self, *, is_first: bool) -> Hunk:
        line, anchors = self._at + 1, list[str]()
        while self._peek().startswith("@@"):
            anchors.append(self._next()[2:].strip())
        if not anchors and not is_first:
            raise self._bad("a hunk begins with @@")
        old, new = self._changed()
        at_end = self._peek() == _EOF
        self._at += at_end
        return Hunk(line, old, new, anchors=tuple(filter(None, anchors)), at_end=at_end)

    def _changed(self) -> tuple[str, str]:
        """The old lines and the new ones. An empty line stands for an empty line of context."""
        old, new, first = list[str](), list[str](), self._at
        while not self._peek().startswith(("@@", "*** ")):
            line = self._next() or " "
            if line[0] not in " +-":
                self._at -= 1
                raise self._bad("a line begins with a blank, + or -")
            old += [f"{line[1:]}\n"] if line[0] != "+" else []
            new += [f"{line[1:]}\n"] if line[0] != "-" else []
        if self._at == first or old == new:
            raise self._bad("the hunk changes nothing")
        return "".join(old), "".join(new)

    def _expect(self, wanted: str) -> None:
        if self._peek().strip() != wanted:
            raise self._bad(f"it must be {wanted!r}")
        self._at += 1

    def _peek(self) -> str:
        if self._at >= len(self._lines):
            raise self._bad(f"the patch ends without {END!r}")
        return self._lines[self._at]

    def _next(self) -> str:
        found = self._peek()
        self._at += 1
        return found

    def _bad(self, why: str) -> BadPatch:
        return BadPatch(self._at + 1, why)
