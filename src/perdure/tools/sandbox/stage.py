"""A stage: the workspace as a command sees it, where nothing it writes is real yet.

Its bottom is the workspace itself, its top a layer in the engine's own place. What lies in that layer afterwards is
what the command has changed; dropping it is undoing it. Where no overlay can be made, the bottom is a copy.
"""

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from perdure.tools.sandbox.command import Bind, Command
from perdure.tools.sandbox.errors import StageFailed
from perdure.tools.sandbox.outlet import interpreter
from perdure.tools.scratch import all_in, held, remove

Staging = Literal["overlay", "copy"]
_HELPER: Final = str(Path(__file__).with_name("overlay.py"))
LEAST_PAUSE: Final = 0.5
"""Seconds between two countings of what a stage holds; more where counting takes long."""
PATIENCE: Final = 20
STAGES: Final = "stages"
"""Where stages are, in the engine's own place."""


class Stage:
    """One stage, for one command. Made, used and removed by `staged`."""

    def __init__(self, root: Path, workspace: Path, kind: Staging) -> None:
        self.kind: Final[Staging] = kind
        self.workspace: Final = workspace
        self._root: Final = root
        self.hidden: Final[set[str]] = set()
        """Paths that were taken out of the copy before the command began."""
        self._counted = 0.0
        self._pause = LEAST_PAUSE
        for name in ("upper", "work", "merged"):
            (root / name).mkdir(mode=0o700)
        shutil.copystat(workspace, self.upper)
        (root / "lower").symlink_to(workspace)
        self._copied: dict[str, int] = {}
        if kind == "copy":
            _copy(workspace, self.upper)
            self._copied = {each.path: each.inode() for each in all_in(self.upper)}
        mark = root / "mark"
        mark.touch()
        self.since: Final = mark.stat().st_ctime_ns
        """What has changed in the workspace after this was not seen by the command, or not as it is now."""

    @property
    def upper(self) -> Path:
        """What the command has written; of a copy, all of it."""
        return self._root / "upper"

    def command(self, command: Command) -> Command:
        """The same command, on this stage."""
        changed = replace(command, workspace=self.workspace, writable=True)
        if command.tier != "bwrap":
            self._take_out(command.hidden)
            scratch = {"HOME": str(self._root / "work"), "TMPDIR": str(self._root / "work")}
            binds = [*command.binds, Bind(self._root / "work", writable=True)]
            return replace(changed, source=self.upper, env={**scratch, **command.env}, binds=binds)
        if self.kind == "copy":
            return replace(changed, source=self.upper)
        prefix = (interpreter(), "-I", "-S", _HELPER, str(self._root))
        return replace(changed, source=self._root / "merged", prefix=prefix)

    def is_untouched(self, path: str, status: os.stat_result) -> bool:
        """Whether a file of the copy is the one that was copied there, as it was."""
        same = self._copied.get(str(self.upper / path)) == status.st_ino
        return same and status.st_ctime_ns <= self.since and not stat.S_ISDIR(status.st_mode)

    def is_gone(self, status: os.stat_result) -> bool:
        """Whether an entry is how an overlay says that something is gone. Commands cannot make one."""
        return self.kind == "overlay" and stat.S_ISCHR(status.st_mode) and status.st_rdev == 0

    def _take_out(self, hidden: Sequence[Path]) -> None:
        """Where nothing can be laid over a file, it is not there; that is no change of the command's."""
        for path in hidden:
            inside = path.relative_to(self.workspace)
            copied = self.upper / inside
            self.hidden.add(str(inside))
            if copied.is_dir() and not copied.is_symlink():
                remove(copied)
            else:
                copied.unlink(missing_ok=True)

    def grown_over(self, most: int) -> bool:
        """Whether more bytes lie here than may; asked often, counted seldom."""
        now = time.monotonic()
        if now < self._counted + self._pause:
            return False
        size = sum(each.stat(follow_symlinks=False).st_blocks * 512 for each in all_in(self.upper))
        self._counted = time.monotonic()
        self._pause = max(LEAST_PAUSE, 10 * (self._counted - now))
        return size > most


@contextmanager
def staged(state: Path, workspace: Path, kind: Staging) -> Generator[Stage]:
    """A stage that is gone afterwards, as are those that dead engines have left."""
    home = state / STAGES
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(home) as root:
            yield Stage(root, workspace, kind)
    except OSError as error:
        raise StageFailed(
            f"no stage can be made of {workspace}: {error}", "look at the disk and its permissions"
        ) from error


def _copy(workspace: Path, to: Path) -> None:
    """With shared blocks where the disk can. Whatever cannot be read is not there."""
    words = ["/bin/cp", "-a", "--reflink=auto", "--", f"{workspace}/.", str(to)]
    done = subprocess.run(words, env={}, capture_output=True, check=False)  # noqa: S603  no word comes from a plan
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip()[:500]
        raise StageFailed(f"{workspace} cannot be copied: {told}", "make it readable, or make room")
