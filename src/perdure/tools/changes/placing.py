"""Putting one file in its place, so that nobody's bytes are ever lost, and so that a crash at any moment does no harm.

The new file is made ready as `<parked>.new`, gets the name *parked*, and is swapped with what stands there. What was
swapped out stays parked until the whole set is in place: should it be something else than expected, or should somebody
still write it, it is swapped back. A file that stands parked is ours only if its bytes say so.
"""

import errno
import os
import time
from contextlib import suppress
from typing import Final

from perdure.tools.changes.conflict import Conflict
from perdure.tools.changes.images import Images
from perdure.tools.changes.kernel import is_written
from perdure.tools.changes.making import Making
from perdure.tools.changes.renaming import exchange, move, rename
from perdure.tools.changes.sets import Change
from perdure.tools.changes.tree import OURS, Spot, Tree

WRITERS: Final = 0.5
"""Seconds that somebody who is just saving has to come to an end."""
PAUSE: Final = 0.002
_CHANGED: Final = "was changed by somebody else meanwhile"
_OPEN: Final = "is held open for writing by another process"


class Placing:
    """Places the files of one set. `weak` from the moment the file system could not do what this relies on."""

    def __init__(self, tree: Tree, images: Images, tag: str) -> None:
        self._tree: Final = tree
        self._images: Final = images
        self._tag: Final = tag
        self._making: Final = Making(tree, images)
        self.weak = False

    @property
    def lost(self) -> list[str]:
        """Attributes of files that could not be carried over."""
        return sorted(set(self._making.lost))

    def place(self, n: int, change: Change) -> None:
        """Bring a name from one image to the other; done already: nothing. `Conflict` if it holds neither."""
        try:
            with self._tree.spot(change.path) as spot:
                self._place(spot, self._parked(spot, n), change)
        except FileNotFoundError:
            if change.after is not None:
                raise Conflict(change, "has no directory any more") from None

    def check(self, n: int, change: Change) -> None:
        """Look once more at what was swapped out. `Conflict` if it was written since; it then has its name again."""
        with suppress(FileNotFoundError), self._tree.spot(change.path) as spot:
            parked = self._parked(spot, n)
            if parked.status() is not None:
                self._verify(spot, parked, change)

    def clear(self, n: int, change: Change) -> str:
        """Remove what an earlier life left parked. Digest of what was kept of it, if it is no longer what it was."""
        with suppress(FileNotFoundError), self._tree.spot(change.path) as spot:
            parked = self._parked(spot, n)
            self._mend(spot, parked)
            held = parked.image()
            if held is not None and held not in (change.before, change.after):
                return self._keep(parked)
            parked.remove()
            os.fsync(spot.directory)
        return ""

    def put_back(self, n: int, change: Change) -> None:
        """Bring a name back to what it was. `Conflict` if somebody has changed it since."""
        with suppress(FileNotFoundError), self._tree.spot(change.path) as spot:
            parked = self._parked(spot, n)
            self._mend(spot, parked)
            if parked.status() is not None and spot.image() == change.after and parked.image() == change.before:
                self._swap_back(spot, parked, change)
            elif parked.status() is not None:
                self._own_up(spot, parked, change)
            if spot.image() != change.before:
                self._invert(spot, n, change)

    def _invert(self, spot: Spot, n: int, change: Change) -> None:
        parked = spot.beside(f"{OURS}{self._tag}-{n}-back")
        try:
            self._place(spot, parked, change.inverse)
            if parked.status() is not None:
                self._verify(spot, parked, change.inverse)
                parked.remove()
        except Conflict as found:
            raise Conflict(change, found.why, found.now, found.kept, torn=True) from None

    def _parked(self, spot: Spot, n: int) -> Spot:
        return spot.beside(f"{OURS}{self._tag}-{n}")

    # --------------------------------------------------------------------------- there

    def _place(self, spot: Spot, parked: Spot, change: Change) -> None:
        draft = self._mend(spot, parked)
        if parked.status() is not None:
            self._own_up(spot, parked, change)
        now = spot.image()
        if now == change.after:
            return
        if now != change.before:
            raise Conflict(change, _CHANGED, now)
        if change.after is not None:
            self._making.make(draft, change.after, spot)
            move(draft, parked)
        self._turn(spot, parked, change)
        os.fsync(spot.directory)
        if change.before is not None:
            self._verify(spot, parked, change)

    def _turn(self, spot: Spot, parked: Spot, change: Change) -> None:
        """The moment of the change."""
        try:
            if change.before is None:
                rename(parked, spot)
            elif change.after is None:
                rename(spot, parked)
            else:
                self._exchange(parked, spot)
        except FileExistsError:
            parked.remove()
            raise Conflict(change, "was made by somebody else meanwhile", spot.image()) from None
        except FileNotFoundError:
            parked.remove()
            raise Conflict(change, "was removed by somebody else meanwhile") from None

    def _own_up(self, spot: Spot, parked: Spot, change: Change) -> None:
        """What lies parked from an earlier life: our own is dropped or left, somebody's gets its name back."""
        held = parked.image()
        if held == change.after:
            parked.remove()
        elif held != change.before:
            self._give_back(spot, parked, change, _CHANGED)
        elif spot.image() != change.after:
            parked.remove()

    def _verify(self, spot: Spot, parked: Spot, change: Change) -> None:
        """Whether what was swapped out is what was expected, and nobody is about to write it."""
        if self._is_open(parked):
            self._give_back(spot, parked, change, _OPEN)
        if parked.image() != change.before:
            self._give_back(spot, parked, change, _CHANGED)

    def _is_open(self, parked: Spot) -> bool:
        """Whether somebody writes the file, after having had some time to end."""
        until = time.monotonic() + WRITERS
        try:
            with parked.reading() as file:
                while (found := is_written(file)) and time.monotonic() < until:
                    time.sleep(PAUSE)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EACCES):  # a link has no writers; neither has what nobody may read
                return False
            raise
        self.weak |= found is None
        return found is True

    def _mend(self, spot: Spot, parked: Spot) -> Spot:
        """Clear away what a crash left half done; the place of the draft."""
        draft, aside = spot.beside(f"{parked.name}.new"), spot.beside(f"{parked.name}.old")
        draft.remove()
        if (left := aside.status()) is not None:
            now = spot.status()
            if parked.status() is None and (now is None or now.st_ino != left.st_ino):
                move(aside, parked)
            else:
                aside.remove()
        return draft

    # --------------------------------------------------------------------------- and back

    def _give_back(self, spot: Spot, parked: Spot, change: Change, why: str) -> None:
        """Somebody's bytes lie parked: give them their name again if it holds only ours, else keep them."""
        if spot.image() == change.after:
            self._swap_back(spot, parked, change)
            raise Conflict(change, why, spot.image())
        raise Conflict(change, why, spot.image(), self._keep(parked), torn=True)

    def _swap_back(self, spot: Spot, parked: Spot, change: Change) -> None:
        """Undo the swap. Who saved in this very moment saved last, so theirs is the name; what they had is kept."""
        if change.after is None:
            return self._return(spot, parked, change)
        self._exchange(parked, spot)
        if parked.image() != change.after:
            self._exchange(parked, spot)
            os.fsync(spot.directory)
            raise Conflict(change, _CHANGED, spot.image(), self._keep(parked), torn=True)
        os.fsync(spot.directory)
        return parked.remove()

    def _return(self, spot: Spot, parked: Spot, change: Change) -> None:
        try:
            rename(parked, spot)
        except FileExistsError:
            raise Conflict(change, "was made anew by somebody else", spot.image(), self._keep(parked)) from None
        os.fsync(spot.directory)

    def _keep(self, parked: Spot) -> str:
        """Keep what lies parked, then let the name go."""
        found = parked.image(self._images)
        self._images.settle()
        parked.remove()
        return found.digest if found else ""

    def _exchange(self, parked: Spot, spot: Spot) -> None:
        self.weak |= not exchange(parked, spot)
