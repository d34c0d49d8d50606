"""What an engine lets its tools reach: a workspace, and a place of their own beside the journal."""

import stat
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar, Final

from perdure.core.layers import layer_of
from perdure.core.policy import Layer, Terms
from perdure.errors import PerdureError
from perdure.plan.model.parts import Policy
from perdure.ports import NoJournal
from perdure.tools import BUILTIN, AnyTool, builtin
from perdure.tools.hands import Hands, Tier

HANDS: Final = ".hands"
"""What the name of the journal is followed by: the directory where tools remember what they are about to do."""
PRIVATE: Final = 0o700


BESIDE: Final = (
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".sock",
    ".ballast",
    ".objects",
    ".log",
    ".keys",
    ".v1",
    ".v2",
    ".v3",
    HANDS,
    ".observed",
)
"""What may lie beside a journal."""


class NoWorkspace(PerdureError):
    """The workspace is not a directory."""

    code: ClassVar[str] = "PRD3201"
    exit_code: int = 2


DEFAULT: Final = (Layer("the default policy", network=Terms(allow=())),)
"""What holds where nobody has said anything: no host is reached that nobody named."""


class Elsewhere(PerdureError):
    """A run works on another directory than this engine."""

    code: ClassVar[str] = "PRD3203"
    exit_code: int = 2


def check_place(run: str, hands: Hands | None) -> None:
    """`Elsewhere` if a run that works on a directory would be driven in another one."""
    here = str(hands.workspace) if hands is not None else ""
    if run and run != here:
        told = f"this engine works on {here}" if here else "this engine has no workspace"
        raise Elsewhere(f"the run works on {run}, and {told}", f"go there, or say --workspace {run}")


def layers_of(policy: Policy | tuple[Layer, ...] | None) -> tuple[Layer, ...]:
    """The outermost rules of an engine."""
    if policy is None:
        return DEFAULT
    return (layer_of(policy, "the policy"),) if isinstance(policy, Policy) else policy


def tools_of(workspace: Path | str | None) -> tuple[AnyTool, ...]:
    """The tools that are always there, and those that need something to work on."""
    return BUILTIN if workspace is None else (*BUILTIN, *builtin.HANDS)


def hands_for(
    workspace: Path | str | None, journal: Path | str, cage: tuple[Tier, tuple[Path, ...]], closing: AsyncExitStack
) -> Hands | None:
    """The hands of an engine; None if it has no workspace."""
    if workspace is None:
        return None
    root = Path(workspace).resolve()
    if not root.is_dir():
        raise NoWorkspace(f"{root} is not a directory", "name a directory to work in")
    tier, toolchains = cage
    return Hands(root, _state_for(journal, closing), tier, _private(journal), toolchains)


def _private(journal: Path | str) -> tuple[Path, ...]:
    """The journal and what lies beside it: not even a tool that may write everything may write there."""
    if str(journal) == ":memory:":
        return ()
    path = Path(journal).resolve()
    return (path, *(path.with_name(f"{path.name}{suffix}") for suffix in BESIDE))


def state_of(journal: Path | str) -> Path:
    """Where tools keep what is needed to take effects back, and to go on after a crash."""
    return Path(f"{Path(journal).resolve()}{HANDS}")


def _state_for(journal: Path | str, closing: AsyncExitStack) -> Path:
    """Beside the journal, because both are needed to go on; of a journal in memory nothing outlives the engine."""
    if str(journal) == ":memory:":
        from perdure.tools.scratch import scratch  # noqa: PLC0415  few journals are in memory

        return closing.enter_context(scratch())
    state = state_of(journal)
    if Path(journal).exists() and not Path(journal).is_file():  # said before anything is made beside it
        raise NoJournal(f"{journal} is not a file", "name a file, as in runs.db")
    state.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    if stat.S_IMODE(state.stat().st_mode) != PRIVATE:  # on a disk that can only be read, what is right stays
        state.chmod(PRIVATE)
    return state
