"""What both a branch and the workspace have changed since: put together line by line, or told as a conflict.

Whoever settles a conflict has seen two versions of a file. What they decide holds for these two: if one of them has
changed since, it is a conflict anew.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any, Final, NamedTuple

import msgspec

from perdure.tools.branches.branch import Base, base_of, inside, place_of, recorded
from perdure.tools.branches.placing import images_in
from perdure.tools.changes import Change, ChangeSet, Desk, Image, Images
from perdure.tools.changes.durable import write_durably
from perdure.tools.changes.merging import Woven, beside, has_marks, texts_of, woven
from perdure.tools.changes.tree import Tree
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands

LONGEST: Final = 2_000_000
"""Bytes of each version of a file that is merged line by line."""
CONFLICTS: Final = 50
"""Conflicts that are told."""
LETTERS: Final = 50_000
"""Of the text of one conflict."""
ALL_LETTERS: Final = 500_000
"""Of the texts of all of them."""
PLAIN: Final = 0o644
TOLD: Final = "conflicts.json"
Settled = Mapping[str, str | None]
"""What shall stand under a name in place of both versions; None: nothing."""
Seen = dict[str, tuple[Image | None, Image | None]]
"""Both versions of each file that was told as a conflict."""


class Versions(NamedTuple):
    """What a name was where the line of branches began, and what it is in the workspace and in the branch."""

    path: str
    base: Image | None
    ours: Image | None
    theirs: Image | None

    def kinds(self) -> set[str]:
        """What it is, or was, somewhere."""
        return {each.kind for each in self[1:] if isinstance(each, Image)}

    def mode(self) -> int:
        """Of a file that both have changed: whoever has changed the mode decides it, the branch before others."""
        base, ours, theirs = (each.mode if each and each.kind == "file" else None for each in self[1:])
        chosen = ours if theirs in (None, base) else theirs
        return next((each for each in (chosen, ours, theirs, base) if each is not None), PLAIN)


class Clash(NamedTuple):
    """Versions that do not go together."""

    versions: Versions
    why: str
    text: str = ""
    """Both, with marks where they differ; empty: it is no text."""

    def told(self, most: int) -> dict[str, Any]:
        """For whoever settles it."""
        sides = ("base", "ours", "theirs")
        images = {name: msgspec.to_builtins(each) for name, each in zip(sides, self.versions[1:], strict=True)}
        told = {"path": self.versions.path, "why": self.why, "text": self.text[:most], **images}
        return {**told, "cut": True} if len(self.text) > most else told


class Joined(NamedTuple):
    """What comes of a branch and a workspace."""

    changes: ChangeSet
    merged: list[str]
    """Names that both have changed, and that are as both, or somebody, wanted them."""


def joined(context: Context, name: str, desk: Desk, settled: Settled) -> Joined:
    """Everything that a branch has changed, with what the workspace has changed. `ToolFailure` tells of conflicts."""
    own, base = inside(context.hands, name), base_of(place_of(context.hands, name))
    with closing(Tree(own.workspace)) as tree:
        now = images_in(context, tree, own)
        merging = Merging(desk, tree, _stores(context.hands, name, desk))
        for path in sorted(each for each in base.keys() | now.keys() if base.get(each) != now.get(each)):
            context.raise_if_cancelled()
            merging.take(Versions(path, base.get(path), desk.tree.fitting(path), now.get(path)))
        _settle(merging, context.hands, name, settled)
        merging.changes += _directories(desk, merging.changes, now)
    return Joined(desk.keep(ChangeSet(tuple(merging.changes))), sorted(merging.merged))


def _stores(hands: Hands, name: str, desk: Desk) -> list[Images]:
    """Where bytes may be kept that a file had in the beginning: whoever changed it first has kept them."""
    found = [desk.images]
    while name and (branch := recorded(place_of(hands, name))) is not None:
        found.append(Images(inside(hands, name).state))
        name = branch.origin
    return found


class Merging:
    """Takes one name after the other."""

    def __init__(self, desk: Desk, tree: Tree, stores: list[Images]) -> None:
        self._desk: Final = desk
        self._tree: Final = tree
        self._stores: Final = stores
        self.changes: list[Change] = []
        self.merged: Final[list[str]] = []
        self.clashes: Final[dict[str, Clash]] = {}

    def take(self, versions: Versions) -> None:
        """Have the workspace hold what the branch made of a name, or what both have made of it."""
        path, base, ours, theirs = versions
        if ours == theirs:
            return
        if ours == base:
            self._change(path, ours, theirs and self._tree.image(path, self._desk.images))
        elif "directory" in versions.kinds():
            self._take_directory(versions)
        else:
            self._desk.check_reads(path)
            self._weave(versions)

    def _take_directory(self, versions: Versions) -> None:
        """A mode of a directory is nothing to quarrel about; whether it is one, is.

        One that is gone on one side goes, or stays, as what is in it.
        """
        path, base, ours, theirs = versions
        sides = {each.kind for each in (ours, theirs) if each}
        was_directory = base is not None and base.kind == "directory"
        if ours and theirs:
            if sides != {"directory"}:
                self.clashes[path] = Clash(versions, "is a directory, or was one, on one side only")
        elif sides == {"directory"} and was_directory:
            _ = ours and self._change(path, ours, None)
        elif theirs:
            self._change(path, None, self._tree.image(path, self._desk.images))

    def _weave(self, versions: Versions) -> None:
        if versions.ours is None or versions.theirs is None:
            where = "workspace" if versions.ours is None else "branch"
            self.clashes[versions.path] = Clash(
                versions, f"is gone in the {where}, and changed elsewhere", self._rest(versions)
            )
            return
        found = self._woven(versions) if versions.kinds() == {"file"} else None
        if found is None:
            self.clashes[versions.path] = Clash(
                versions, "was changed on both sides, and is no text that can be merged"
            )
        elif found.clashes:
            self.clashes[versions.path] = Clash(versions, "was changed on both sides, in the same lines", found.text)
        else:
            self.put(versions, found.text)

    def _woven(self, versions: Versions) -> Woven | None:
        ours, theirs = self._bytes(self._desk.tree, versions.path), self._bytes(self._tree, versions.path)
        base = self._beginning(versions.base)
        texts = texts_of(ours, theirs, base or b"", most=LONGEST)
        if texts is None:
            return None
        return beside(texts[0], texts[1]) if base is None else woven(texts[2], texts[0], texts[1])

    def _rest(self, versions: Versions) -> str:
        """What one side has, between marks."""
        sides = [b"" if each is None else self._bytes(tree, versions.path) for each, tree in (
            (versions.ours, self._desk.tree), (versions.theirs, self._tree),
        )]  # fmt: skip
        texts = texts_of(*sides, most=LONGEST)
        return beside(*texts).text if texts and versions.kinds() == {"file"} else ""

    def _bytes(self, tree: Tree, path: str) -> bytes:
        found = tree.image(path, self._desk.images)
        return self._desk.images.read(found.digest) if found else b""

    def _beginning(self, image: Image | None) -> bytes | None:
        if image is None:
            return None
        for store in self._stores:
            with suppress(ToolFailure):
                return store.read(image.digest)
        return None

    def put(self, versions: Versions, text: str | None) -> None:
        """Have the workspace hold this text; None: nothing."""
        data = None if text is None else text.encode()
        image = None if data is None else Image("file", self._desk.images.put(data), versions.mode(), len(data))
        self._change(versions.path, versions.ours, image)
        self.merged.append(versions.path)

    def _change(self, path: str, before: Image | None, after: Image | None) -> None:
        self.changes.append(Change(path, before, after))


# ------------------------------------------------------------------------------- what somebody has settled


def _settle(merging: Merging, hands: Hands, name: str, settled: Settled) -> None:
    """Put in place what was decided. `ToolFailure` if a conflict is left, or something else was decided."""
    note = place_of(hands, name) / TOLD
    seen = _seen(note.read_bytes()) if note.exists() else {}
    _refuse_odd(merging, settled)
    left = dict[str, Clash]()
    for path, clash in merging.clashes.items():
        if path not in settled:
            left[path] = clash
        elif seen.get(path, clash.versions[2:]) != clash.versions[2:]:
            left[path] = clash._replace(why="has changed since it was settled")
        else:
            merging.put(clash.versions, settled[path])
    if left:
        both = {path: (each.versions.ours, each.versions.theirs) for path, each in merging.clashes.items()}
        write_durably(note, msgspec.json.encode(both))
        raise _conflict(left)


def _seen(data: bytes) -> Seen:
    return msgspec.json.decode(data, type=Seen)


def _refuse_odd(merging: Merging, settled: Settled) -> None:
    for path, text in settled.items():
        clash = merging.clashes.get(path)
        if clash is None:
            raise ToolFailure("invalid", f"settled: {path!r} is no conflict; leave it out")
        if "directory" in clash.versions.kinds():
            raise ToolFailure("invalid", f"settled: {path} {clash.why}, which no text settles; make both sides alike")
        if text is not None and (not clash.text or len(clash.text) > LETTERS):
            told = "is no text" if not clash.text else "is too long to be shown whole"
            raise ToolFailure("invalid", f"settled: {path} {told}, and so no text settles it; make both sides alike")
        if text is not None and has_marks(text):
            raise ToolFailure(
                "invalid", f"settled: {path} still has marks in it; write the text that shall stand there"
            )


def _conflict(left: Mapping[str, Clash]) -> ToolFailure:
    names = ", ".join(list(left)[:5]) + (", …" if len(left) > 5 else "")  # noqa: PLR2004
    room = ALL_LETTERS
    told: list[dict[str, Any]] = []
    for each in list(left.values())[:CONFLICTS]:
        told.append(each.told(min(LETTERS, room)))
        room -= len(told[-1]["text"])
    hint = "give what shall stand there as `settled`"
    return ToolFailure(
        "unmet", f"the branch and the workspace do not go together in {names}; nothing was placed: {hint}",
        detail={"conflicts": told, "count": len(left)},
    )  # fmt: skip


# ------------------------------------------------------------------------------- directories


def _directories(desk: Desk, changes: list[Change], now: Base) -> list[Change]:
    """Directories that files of the branch need, and that the workspace has taken away."""
    named = {each.path for each in changes}
    wanted = {above for each in changes if each.after is not None for above in _above(each.path)}
    return [Change(each, None, now[each]) for each in sorted(wanted - named) if _is_missing(desk, each) and each in now]


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:n]) for n in range(1, len(parts)))


def _is_missing(desk: Desk, path: str) -> bool:
    found = desk.tree.image(path)
    if found is not None and found.kind != "directory":
        raise ToolFailure("unmet", f"{path} is a {found.kind} in the workspace, and a directory in the branch")
    return found is None
