"""What the tools of an engine may reach: a workspace, and a place of their own to remember things in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Tier = Literal["bwrap", "landlock", "none"]
"""What commands are kept in. Only the user's own settings may lower it."""


@dataclass(frozen=True, slots=True)
class Hands:
    """Handed to tools through their context."""

    workspace: Path
    """The directory that plans work on: absolute, and real."""
    state: Path
    """Where change sets, stages and pinned definitions are kept; 0700, and never reachable from inside a sandbox."""
    tier: Tier = "bwrap"
    private: tuple[Path, ...] = ()
    """Files and directories that no tool may touch even if they lie in the workspace, such as the journal."""
    toolchains: tuple[Path, ...] = ()
    """Directories that commands see besides the system's programs, read-only; named by the user's settings alone."""

    @property
    def is_walled(self) -> bool:
        """Whether nothing that a program does in here reaches further than the workspace.

        Under `landlock` it shares sockets, memory and processes with everybody; under `none`, everything.
        """
        return self.tier == "bwrap"
