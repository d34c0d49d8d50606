"""Making a file or a link ready beside the one whose place it will take."""

import os
import stat
from contextlib import suppress
from typing import Final

from perdure.tools.changes.images import Image, Images
from perdure.tools.changes.tree import Spot, Tree


class Making:
    """Makes the files of one set from what was kept of them."""

    def __init__(self, tree: Tree, images: Images) -> None:
        self._tree: Final = tree
        self._images: Final = images
        self.lost: Final[list[str]] = []
        """Attributes that could not be carried over."""

    def make(self, draft: Spot, image: Image, old: Spot) -> None:
        """Write the image under the name of a draft, durably, with all that the old file has besides its bytes."""
        if image.kind == "link":
            os.symlink(os.fsdecode(self._images.read(image.digest)), draft.name, dir_fd=draft.directory)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(draft.name, flags, 0o600, dir_fd=draft.directory)
        try:
            self._images.copy(image.digest, file)
            self._dress(file, old)
            os.fchmod(file, image.mode)
            os.fsync(file)
        finally:
            os.close(file)

    def _dress(self, file: int, old: Spot) -> None:
        """Owner, group and attributes of the file that stood there. A new file belongs to the workspace's owner."""
        found = old.status()
        owner = self._tree.owner if found is None else found.st_uid
        if owner != os.geteuid():
            os.fchown(file, owner, -1)
        if found is None or not stat.S_ISREG(found.st_mode):
            return
        with suppress(PermissionError):
            os.fchown(file, -1, found.st_gid)
        with suppress(OSError), old.reading() as source:
            self._carry_attributes(source, file)

    def _carry_attributes(self, source: int, to: int) -> None:
        for name in os.listxattr(source):
            try:
                os.setxattr(to, name, os.getxattr(source, name))
            except OSError:
                self.lost.append(name)
