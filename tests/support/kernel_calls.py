"""What happens between two calls of the kernel: a disk fails, a process dies, somebody saves. A test picks the moment."""

import errno
import os
import threading

from perdure.tools.changes import directories, images, renaming, tree

CALLS = ("write", "fsync", "open", "link", "unlink", "mkdir", "rmdir", "rename", "fchmod")
OURS = {"rename_at": (directories, renaming), "open_beneath": (tree,), "chunks_of": (images,), "stat": (os,)}
"""Calls that change nothing, or are ours, and where they are used."""


def before_calls(monkeypatch, deed, *, also=()):
    """Do something with the number of each call of this thread that changes files, before it is made; those made.

    What the deed itself calls is not counted. `also`: calls of `OURS` that are counted besides.
    """
    mine, made, busy = threading.get_ident(), [], []

    def counting(name, call):
        def called(*arguments, **named):
            if threading.get_ident() == mine and not busy:
                made.append(name)
                busy.append(name)
                try:
                    deed(len(made))
                finally:
                    busy.clear()
            return call(*arguments, **named)

        return called

    for name in CALLS:
        monkeypatch.setattr(os, name, counting(name, getattr(os, name)))
    for name in ("rename_at", *also):
        for place in OURS[name]:
            monkeypatch.setattr(place, name, counting(name, getattr(place, name)))
    return made


def weak(monkeypatch):
    """A file system that knows neither of the two ways to rename with care."""

    def unsupported(*_):
        raise OSError(errno.EINVAL, "not here")

    for place in OURS["rename_at"]:
        monkeypatch.setattr(place, "rename_at", unsupported)


class Died(BaseException):
    """A process that has ended: nothing it would still do is done."""
