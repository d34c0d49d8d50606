"""Why work does not begin: what shall test it tests nothing. Said before a model is asked, with what to do."""

from collections.abc import Sequence
from typing import Final

from perdure.kits.coding.results import Report
from perdure.tools import ToolFailure

NONE_RAN: Final = "PRD7005"
"""There are tests, and the command runs none of them."""
NOT_RUN: Final = "PRD7006"
"""The command cannot be run."""
FEW: Final = 3
"""Files that are named."""


def refusal(before: Report, files: Sequence[str], hint: str) -> ToolFailure:
    """What was found wrong with a command before anything was changed; `files` have tests for certain."""
    code, *lines = _none_ran(files) if before.empty else _not_run(before, hint)
    return ToolFailure("unmet", "\n".join([f"{code}: {lines[0]}", *filter(None, lines[1:])]), detail={"code": code})


def _none_ran(files: Sequence[str]) -> tuple[str, ...]:
    more = f" and {len(files) - FEW} more" if len(files) > FEW else ""
    told = f"no tests ran, although there are tests in {', '.join(files[:FEW])}{more}"
    return NONE_RAN, f"{told}: name the command that runs them with --test"


def _not_run(before: Report, hint: str) -> tuple[str, ...]:
    why, _, words = (before.broken or before.summary).partition("\n")
    return NOT_RUN, f"the tests cannot be run, so nothing could be proven: {why}", hint, words
