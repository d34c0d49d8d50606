"""Names that change places, also on file systems that know fewer ways of it."""

import os

from perdure.tools.changes.kernel import EXCHANGE, NOREPLACE, UNSUPPORTED, rename_at
from perdure.tools.changes.tree import Spot


def rename(old: Spot, new: Spot) -> None:
    """To a name that nobody has; else `FileExistsError`. Where the kernel cannot promise that, a second name does."""
    try:
        rename_at(old.directory, old.name, new.name, NOREPLACE)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        _link(old, new)
        old.remove()


def exchange(parked: Spot, spot: Spot) -> bool:
    """Swap two names. False where the kernel cannot: then there was a moment in which a save could be missed."""
    try:
        rename_at(parked.directory, parked.name, spot.name, EXCHANGE)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    else:
        return True
    aside = parked.beside(f"{parked.name}.old")
    aside.remove()
    _link(spot, aside)
    move(parked, spot)
    move(aside, parked)
    return False


def move(old: Spot, new: Spot) -> None:
    """Over whatever is there."""
    os.rename(old.name, new.name, src_dir_fd=old.directory, dst_dir_fd=new.directory)


def _link(old: Spot, new: Spot) -> None:
    """A second name for a file; `FileExistsError` if somebody has that name."""
    os.link(old.name, new.name, src_dir_fd=old.directory, dst_dir_fd=new.directory, follow_symlinks=False)
