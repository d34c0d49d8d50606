"""What is said when the disk fails under git.

Once refs may have moved, nobody knows how far it came. What is in doubt is tried again under its key, which finds what
was kept of it and does what is left.
"""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from perdure.tools.failure import Kind, ToolFailure

TROUBLE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""Errors that say something about the machine, and nothing about a file."""
_WORDS: Final = tuple(os.strerror(each) for each in sorted(TROUBLE))


def kind_of(err: str, otherwise: Kind) -> Kind:
    """What a complaint of git means. It speaks plain English, because it is told to."""
    return "unavailable" if any(word in err for word in _WORDS) else otherwise


@contextmanager
def once_it_began(*untold: Kind) -> Generator[None]:
    """Refs may have moved, so that this is no plain failure any more; nor is one that does not tell how far it came."""
    try:
        yield
    except OSError as error:
        raise ToolFailure("in_doubt", f"it was begun and not ended: {error}") from error
    except ToolFailure as error:
        if error.failure.kind not in untold:
            raise
        raise ToolFailure("in_doubt", f"it was begun and not ended: {error}", detail=error.failure.detail) from error
