"""Before an agent is done: the tools and agents that have to accept its work (`accept`) are asked, one after another.

Each is a step of its own, so it is paid from what the agent may spend, and seen where the work is seen. What an
expression or a schema refuses is not shown to them.
"""

from collections.abc import Mapping
from typing import Any, Final

from perdure.core.growth import Finish, Move, View
from perdure.core.judging import VERDICT, objection
from perdure.plan.expr import Reference
from perdure.plan.model.parts import Criterion
from perdure.plan.raw import is_mapping
from perdure.plan.referring import retold

JUDGED: Final = "judged"
INPUT: Final = "inputs."


def is_judged(view: View) -> bool:
    """Whether the work is done, and judges look at it."""
    return is_mapping(view.memo) and JUDGED in view.memo


def accepted(view: View, wish: Move | Finish | None) -> Move | Finish | None:
    """The same, unless it is an end that somebody has to accept first."""
    if not isinstance(wish, Finish) or wish.exit != "success" or not view.judges or not view.would_do(wish):
        return wish
    return _ask(view, {"output": wish.output, "keep": wish.keep}, 0)


def heard(view: View) -> Move | Finish | None:
    """What judges say: the next is asked, or it is over."""
    memo = view.memo
    said = view.child(memo["by"])
    if said is None or not said.exit:
        return None
    judge, number = view.judges[int(memo[JUDGED])], int(memo[JUDGED]) + 1
    if (failure := objection(judge, said.failure, said.output)) is not None:
        return Finish("failure", memo["output"], memo["keep"], failure)
    if number < len(view.judges):
        return _ask(view, memo, number)
    return Finish("success", memo["output"], memo["keep"], judged=True)


def _ask(view: View, end: Mapping[str, Any], number: int) -> Move:
    id_ = f"s{view.born + 1}"
    keep = None if end["keep"] is None else list(end["keep"])
    memo = {JUDGED: number, "by": id_, "output": end["output"], "keep": keep}
    return Move(add=[_step(view, view.judges[number], end["output"])], tags={id_: JUDGED}, memo=memo)


def _step(view: View, judge: Criterion, output: Any) -> dict[str, Any]:
    """A plan of one step, so that what is judged has a name there: `inputs.output`."""
    given = retold(view.asked_of(judge), _within)
    step: dict[str, Any] = {"id": "judge", "tool": judge.tool, "with": given}
    if judge.agent is not None:
        task = judge.title or "Judge whether this is good enough."
        facts = {"output": "${inputs.output}", **given}
        step = {"id": "judge", "agent": judge.agent, "task": task, "with": facts, "returns": dict(VERDICT)}
    return {"plan": {"steps": [step], "output": "${steps.judge.output}"}, "with": {"output": output}}


def _within(source: str, reference: Reference) -> str:
    return source[: reference.offset] + INPUT + source[reference.offset :]
