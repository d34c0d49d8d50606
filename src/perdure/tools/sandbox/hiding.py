"""What of the workspace a command must not see: what the rules do not let be read, and what is the engine's own."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from perdure.core.policy import Deed, Layer, judge
from perdure.tools.changes.protected import asking, rule_for
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure

PROJECT_STATE: Final = ".perdure"
"""Where a project keeps its journal."""
MOST: Final = 1_000
"""Files that can be hidden one by one."""


def hidden_from(context: Context) -> list[Path]:
    """Files and directories that are not there for a command. Nobody is asked about them: there are too many to ask."""
    hands = context.hands
    places = (hands.state, *hands.private, hands.workspace / PROJECT_STATE)
    own = [each for each in places if each.is_relative_to(hands.workspace)]
    layers = context.guard.layers
    judged = any(each.files_read.deny or each.files_read.ask or each.files_read.allow is not None for each in layers)
    found = [hands.workspace / path for path in _files(hands.workspace) if _is_hidden(path, layers, judged=judged)]
    if len(found) > MOST:
        raise ToolFailure(
            "denied", f"more than {MOST:,} files of the workspace may not be read, too many to hide from a command"
        )
    return [*own, *found]


def _is_hidden(path: str, layers: tuple[Layer, ...], *, judged: bool) -> bool:
    deed = Deed("read", path)
    rule = rule_for(path)
    if rule is not None and rule.hidden and (rule.read == "deny" or asking([deed], layers)):
        return True
    return judged and judge(layers, deed).verdict != "allow"


def _files(root: Path) -> Iterator[str]:
    """All files of the workspace but those of version control, which a command may read."""
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        with os.scandir(root / directory) as found:
            for each in found:
                path = f"{directory}/{each.name}" if directory else each.name
                if each.is_dir(follow_symlinks=False):
                    waiting += [path] if path != ".git" else []
                elif not each.is_symlink():
                    yield path
