"""Where change sets are worked on: one at a time, written down before they begin, remembered when they are done."""

import fcntl
import os
import time
from typing import Any, Final, Self

import msgspec

from perdure.core.policy import Deed
from perdure.tools.changes.applying import Applying, Trouble
from perdure.tools.changes.conflict import Conflict
from perdure.tools.changes.durable import PRIVATE_FILE, make_private
from perdure.tools.changes.failing import Failing, said
from perdure.tools.changes.images import Images
from perdure.tools.changes.intents import Intent, Intents, set_of
from perdure.tools.changes.judging import Judging
from perdure.tools.changes.sets import Change, ChangeSet, refuse_odd
from perdure.tools.changes.showing import agreed, diff_of
from perdure.tools.changes.tree import Tree
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure

DIFF: Final = 20_000
"""Letters of the diff that a step gives."""
LISTED: Final = 500
"""Changes that a step gives; all of them are remembered."""
PAUSE: Final = 0.01
Output = dict[str, Any]


class Desk:
    """The change sets of one engine, held by one call of one tool. Use it in a `with`."""

    def __init__(self, context: Context) -> None:
        self._context: Final = context
        self._hands: Final = context.hands
        self._judging: Final = Judging(context)
        self._set: Final = set_of(context.key)
        self._lock = -1
        self.images: Images
        self.tree: Tree

    def __enter__(self) -> Self:
        try:
            self._open()
        except OSError as error:
            raise ToolFailure("unavailable", f"nothing was changed: {error}") from error
        return self

    def _open(self) -> None:
        state = self._hands.state
        make_private(state / "changes")
        self.images = Images(state)
        self._intents = Intents(state)
        self._lock = os.open(state / "changes" / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            self._hold()
            self.images.sweep()
            self._intents.sweep()
            self.tree = Tree(self._hands.workspace)
            self._failing = Failing(self.tree, self.images)
        except BaseException:
            os.close(self._lock)
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.tree.close()
        os.close(self._lock)
        if isinstance(error, OSError):  # what happens after the beginning is told by those who know how far it came
            raise ToolFailure("unavailable", f"nothing was changed: {error}") from error

    def _hold(self) -> None:
        """One at a time, also among processes: a call that was given up may still be at work."""
        while True:
            try:
                return fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._context.raise_if_cancelled()
                time.sleep(PAUSE)

    # --------------------------------------------------------------------------- judging

    def check_reads(self, *paths: str) -> None:
        """Go on only if these files may be read."""
        self._judging.check([Deed("read", path) for path in paths])

    # --------------------------------------------------------------------------- doing

    def keep(self, changes: ChangeSet) -> ChangeSet:
        """Keep what stands there, of changes whose `before` was not seen here. `ToolFailure` if it is another."""
        for each in changes.changes:
            self._expect(each, self.images)
        return changes

    def unfinished(self) -> Output | None:
        """What came of an earlier call under this key; gone on with, if it did not come to its end."""
        intent = self._intents.get(self._set)
        return None if intent is None else self._go_on(intent)

    def carry_out(self, changes: ChangeSet, told: Output | None = None) -> Output:
        """Make the changes, if they may be made. `ToolFailure` and `Unapproved` leave everything as it was.

        `told`: what is to be said of them besides.
        """
        if (done := self.unfinished()) is not None:
            return done
        needed = changes.needed
        refuse_odd(needed)
        for each in needed.changes:
            self._refuse_outward(each)
        self._judging.check([Deed("write", each.path) for each in needed.changes], agreed(needed, self.images))
        for each in needed.changes:
            self._expect(each)
        self._context.raise_if_cancelled()
        return self._begin(self._set, needed, told)

    def take_back(self, output: Output) -> Output:
        """Bring everything back to what it was before a step that gave this. Done already: nothing.

        If nobody saw what it gave, what was begun under its key is brought to its end first.
        """
        known = output if "set" in output else self.unfinished()
        if known is None:
            return {"changes": []}
        name = str(known["set"])
        undo = set_of(f"undo {name}")
        if (intent := self._intents.get(undo)) is not None:
            return self._go_on(intent)
        changes = self._changes_of(name, known).inverse
        self._judging.refuse_denied([Deed("write", each.path) for each in changes.changes])
        return self._begin(undo, self._left(changes))

    def _begin(self, name: str, changes: ChangeSet, told: Output | None = None) -> Output:
        self.images.settle(image.digest for each in changes.changes for image in (each.before, each.after) if image)
        output = {**self._summary(name, changes), **(told or {})}
        intent = self._intents.write(Intent(name, "begun", changes, output, self._context.run))
        return self._apply(intent, fresh=True)

    def _go_on(self, intent: Intent) -> Output:
        if intent.stage == "done":
            return intent.output
        return self._apply(intent, fresh=False)

    def _apply(self, intent: Intent, *, fresh: bool) -> Output:
        applying = Applying(self.tree, self.images, intent.set[:12], intent.changes, fresh=fresh)
        if intent.stage == "begun":
            try:
                applying.place()
            except Trouble as trouble:
                if not trouble.is_broken:
                    self._intents.forget(intent.set)
                raise self._failing.failure(trouble, applying.account, fresh=fresh) from trouble.cause
        try:
            return self._done(intent, applying)
        except OSError as error:
            raise ToolFailure("in_doubt", f"all files are changed, but the end of it failed: {said(error)}") from error

    def _done(self, intent: Intent, applying: Applying) -> Output:
        """Past the point of no return."""
        if intent.stage == "begun":
            intent = self._intents.write(msgspec.structs.replace(intent, stage="placed"))
        applying.finish()
        output = dict(intent.output)
        if applying.weak:
            output["weak_guard"] = True
        if applying.notes:
            output["notes"] = applying.notes
        return self._intents.write(msgspec.structs.replace(intent, stage="done", output=output)).output

    def _summary(self, name: str, changes: ChangeSet) -> Output:
        listed = [msgspec.to_builtins(each) for each in changes.changes[:LISTED]]
        more = len(changes.changes) - len(listed)
        told = {"set": name, "changes": listed, "diff": diff_of(changes, self.images, DIFF)}
        return {**told, "more": more} if more else told

    # --------------------------------------------------------------------------- refusing

    def _expect(self, change: Change, images: Images | None = None) -> None:
        """Nothing is begun that cannot be ended."""
        now = self.tree.fitting(change.path, images)
        if now != change.before:
            raise self._failing.conflict([Conflict(change, "was changed by somebody else meanwhile", now)])

    def _refuse_outward(self, change: Change) -> None:
        """A link that leads out would let whoever follows it read or write elsewhere."""
        if change.after is None or change.after.kind != "link":
            return
        target = os.fsdecode(self.images.read(change.after.digest))
        ends = os.path.normpath(os.path.join(os.path.dirname(change.path), target))  # noqa: PTH118, PTH120  no path of this machine
        if os.path.isabs(target) or ends == ".." or ends.startswith("../"):  # noqa: PTH117
            raise ToolFailure("denied", f"{change.path} would be a link out of the workspace, to {target}")

    def _changes_of(self, name: str, output: Output) -> ChangeSet:
        kept = self._intents.get(name) if name else None
        if kept is not None:
            return kept.changes
        if output.get("more"):
            raise ToolFailure("unavailable", "nobody remembers all the changes of this step any more")
        return ChangeSet(msgspec.convert(output.get("changes", []), tuple[Change, ...]))

    def _left(self, changes: ChangeSet) -> ChangeSet:
        """What is not as wanted yet. `ToolFailure` if somebody has changed a file since; then nothing is touched."""
        found = [(each, self.tree.image(each.path)) for each in changes.changes]
        others = [(each, now) for each, now in found if now not in (each.before, each.after)]
        if others:
            raise self._failing.conflict(
                [Conflict(each, "was changed by somebody else since", now) for each, now in others]
            )
        return ChangeSet(tuple(each for each, now in found if now != each.after))
