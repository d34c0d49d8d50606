"""The server: its tools with what clients are told about each, and its resources."""

import inspect
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from perdure import __version__
from perdure.mcp.plans import Plans
from perdure.mcp.questions import Questions, answer_tool
from perdure.mcp.reach import Reach
from perdure.mcp.resources import offer_resources
from perdure.mcp.runs import Runs
from perdure.mcp.scopes import Caller, Callers
from perdure.world import World

INSTRUCTIONS: Final = (
    "Perdure carries out plans and survives crashes: what was begun gets to its end, and nothing is done twice. "
    "Make a plan with perdure_plan or write one, see what it would do with perdure_rehearse, begin it with "
    "perdure_run, and call perdure_follow until `rests` is true. If a run waits, perdure_questions says for what. "
    "After a failure perdure_show says why: change the plan with perdure_revise, or go on with perdure_retry."
)

LOOKS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""It changes nothing."""
THINKS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
"""It may ask a model, in a run of its own."""
BEGINS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)
"""What is begun may do anything that the policy allows."""
STEERS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Said twice it is done once, and it takes nothing away."""
ENDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)
"""It takes something away."""


@contextmanager
def _logging_as_it_is() -> Generator[None]:
    """The SDK gives the root logger a handler of its own; how things are logged is not its to say."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def server_of(reach: Reach, world: World, callers: Callers = lambda _: Caller()) -> MCPServer[Any]:
    """The server on a journal and what there is around it. `callers` says who calls, and what they may do."""
    with _logging_as_it_is():
        server: MCPServer[Any] = MCPServer(
            "perdure", title="Perdure", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
        )
    plans, questions = Plans(reach, world), Questions(reach, callers)
    runs = Runs(reach, plans, callers)
    for hints, tools in (
        (LOOKS, (plans.perdure_check, plans.perdure_rehearse, plans.perdure_tools)),
        (LOOKS, (runs.perdure_runs, runs.perdure_show, runs.perdure_follow, questions.perdure_questions)),
        (THINKS, (plans.perdure_plan,)),
        (BEGINS, (runs.perdure_run, runs.perdure_fork, runs.perdure_retry, runs.perdure_revise)),
        (BEGINS, (answer_tool(questions), runs.perdure_signal, runs.perdure_resume)),
        (STEERS, (runs.perdure_pause,)),
        (ENDS, (runs.perdure_cancel, runs.perdure_rollback)),
    ):
        for tool in tools:
            server.add_tool(tool, title=_title(tool.__name__), description=inspect.getdoc(tool), annotations=hints)
    offer_resources(server, reach)
    return server


def _title(name: str) -> str:
    return name.removeprefix("perdure_").capitalize()
