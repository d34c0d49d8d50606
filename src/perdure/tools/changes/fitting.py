"""Where the hunks of a patch go: found exactly and without a choice, or not at all."""

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from typing import Final

from perdure.tools.changes.diffing import lines_of
from perdure.tools.changes.editing import line_of, occurrences
from perdure.tools.changes.hunks import FilePatch, Hunk
from perdure.tools.changes.nearest import nearest, told
from perdure.tools.failure import ToolFailure

FEW: Final = 5


def patched(patch: FilePatch, text: str) -> str:
    """The text after all hunks. `ToolFailure` says which one does not fit, and what is like it."""
    open_end = patch.keeps_end and text and not text.endswith("\n")
    fitting = Fitting(patch, f"{text}\n" if open_end else text)
    result = fitting.result()
    return result.removesuffix("\n") if open_end else result


class Fitting:
    """The hunks of one file, one behind the other."""

    def __init__(self, patch: FilePatch, text: str) -> None:
        self._patch: Final = patch
        self._text: Final = text
        self._lead: Final = f"\n{text}"
        """With a newline in front, so that each line is found behind one; the places are those of the text."""

    def result(self) -> str:
        """The text after all hunks."""
        told: list[str] = []
        done = 0
        for hunk in self._patch.hunks:
            at = self._place(hunk, done)
            told += [self._text[done:at], hunk.new]
            done = at + len(hunk.old)
        return "".join([*told, self._text[done:]])

    def _place(self, hunk: Hunk, done: int) -> int:
        """Where a hunk goes: at the line it says, or at the only place where it fits."""
        start = self._behind_anchors(hunk, done)
        if not hunk.old:
            return self._inserted(hunk, start)
        if hunk.at_end or not hunk.old.endswith("\n"):
            return self._at_end(hunk, start)
        said = self._line_starts[hunk.at - 1] if hunk.at and hunk.at <= len(self._line_starts) else -1
        if said >= start and self._text.startswith(hunk.old, said):
            return said
        return self._only(hunk, start)

    def _only(self, hunk: Hunk, start: int) -> int:
        found = occurrences(self._lead, f"\n{hunk.old}", start)
        if not found:
            raise self._misfit(hunk, f"its old lines do not occur; {told(nearest(self._text, hunk.old))}")
        if len(found) > 1:
            lines = ", ".join(str(line_of(self._text, each)) for each in found[:FEW])
            raise self._misfit(hunk, f"its old lines occur more than once, on lines {lines}; add lines around them")
        return found[0]

    def _at_end(self, hunk: Hunk, start: int) -> int:
        at = len(self._text) - len(hunk.old)
        if at < start or not self._lead.endswith(f"\n{hunk.old}"):
            near = told(nearest(self._text, hunk.old))
            raise self._misfit(hunk, f"its old lines are not the end of the file; {near}")
        return at

    def _inserted(self, hunk: Hunk, start: int) -> int:
        """Lines without any around them: only where there is no choice."""
        if hunk.at_end or not self._text:
            return len(self._text)
        if hunk.anchors:
            return start
        raise self._misfit(hunk, "it has no old lines, so nobody can tell where it belongs; add lines around it")

    def _behind_anchors(self, hunk: Hunk, start: int) -> int:
        """Behind the lines that a hunk names before it begins. The first of them must be the only one of its kind."""
        for n, anchor in enumerate(hunk.anchors):
            ends = self._line_ends.get(anchor.strip(), [])
            left = ends[bisect_left(ends, start + 1) :]
            if not left:
                raise self._misfit(hunk, f"there is no line {anchor[:80]!r}; {told(nearest(self._text, anchor))}")
            if n == 0 and len(left) > 1:
                raise self._misfit(hunk, f"there is more than one line {anchor[:80]!r}; name one that stands before it")
            start = left[0]
        return start

    @cached_property
    def _line_starts(self) -> list[int]:
        found = [0]
        for line in lines_of(self._text):
            found.append(found[-1] + len(line))
        return found

    @cached_property
    def _line_ends(self) -> dict[str, list[int]]:
        """Where lines end, by what they say, white space around it aside."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for line, end in zip(lines_of(self._text), self._line_starts[1:], strict=True):
            found[line.strip()].append(end)
        return found

    def _misfit(self, hunk: Hunk, why: str) -> ToolFailure:
        path = self._patch.path
        detail = {"path": path, "line": hunk.line, "nearest": nearest(self._text, hunk.old)}
        return ToolFailure(
            "invalid", f"{path}: the hunk on line {hunk.line} of the patch does not fit: {why}", detail=detail
        )
