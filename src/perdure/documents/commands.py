"""Command lines that people can type next."""

import shlex
from collections.abc import Callable

from perdure.plan.visible import visible

CommandLine = Callable[..., str]
"""Makes a command line that people can type: of a verb, a run, and words."""


def command_line(verb: str, run: str, *words: str) -> str:
    """A command line, for the journal that the settings name."""
    return visible(shlex.join(["perdure", verb, run, *words]))
