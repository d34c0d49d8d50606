"""How a group ends that failed: by a ladder of its own, if those inside have not climbed the same one already."""

from typing import Any

import msgspec

from perdure.core import events as e
from perdure.core.adjusting import as_answered, replan
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.consulting import AGAIN, CONTINUE, FAIL, ask, said_to
from perdure.core.deciding import Deciding
from perdure.core.diverting import divert_group, held_back, relax_group, repeat_group
from perdure.core.ending import Ending, end_group, is_item, own_say
from perdure.core.ladder import WITHIN, ladder_of, owner_of
from perdure.core.recovering import take_back_in


def conclude(turn: Deciding, cell: Cell, how: Ending) -> None:
    """End a group. One that failed has ways of its own, and a ladder, if that was not climbed inside already."""
    how = own_say(turn, cell, how)
    if how.failure is None or how.exit != "failure" or how.to or is_item(cell):
        end_group(turn, cell, how)
        return
    is_free = _may_recover(turn, cell, how)
    if any(each.status == "stopping" for each in cell.around):
        end_group(turn, cell, _lasting(cell, how) if is_free else how)
    elif not cell.is_asking:
        _recover_group(turn, cell, how, how.failure, after=is_free)
    else:
        _hear_group(turn, cell, how)


def _may_recover(turn: Deciding, cell: Cell, how: Ending) -> bool:
    """Whether nobody was asked about this failure who would have to be asked again."""
    if cell.parent is not None and cell.target("failure") != "recover":
        return False
    kind, inside = how.failure.kind if how.failure else "", turn.state.cells.get(how.cause)
    if not how.cause:
        return True
    if inside is None or not _had_its_ladder(inside):
        return owner_of(cell, kind) is not None
    owner = owner_of(inside, kind)
    return owner is not None and (owner is inside or cell in owner.around)


def _had_its_ladder(cell: Cell) -> bool:
    """Whether all that there is against a failure was asked for when a step failed."""
    was_tried = cell.kind == "work" and cell.result is not None and not cell.result.passed
    return was_tried and cell.target("failure") == "recover"


def _recover_group(turn: Deciding, cell: Cell, how: Ending, failure: Failure, *, after: bool) -> None:
    """Take the next rung; `after`: also those that come after a visit."""
    for rung in ladder_of(cell, failure.kind):
        if rung not in WITHIN and not after:
            break
        if rung in WITHIN and _stays_in_visit(turn, cell, how, failure, rung):
            return
        match rung:
            case "replan" if replan(turn, cell, failure):
                _end_failed(turn, cell, msgspec.structs.replace(how, goes_on=True))
                return
            case "replan":
                failure = as_answered(turn, cell, failure)
                how = msgspec.structs.replace(how, failure=failure)
            case "ask" if cell.parent is not None:
                _ask_about(turn, cell, how, failure)
                return
            case "rollback" if (owner := owner_of(cell, failure.kind)) is not None:
                _take_back_from(turn, cell, owner, how, failure)
                return
            case "continue" if cell.parent is not None:
                _end_failed(turn, cell, msgspec.structs.replace(how, goes_on=True))
                return
            case "fail":
                break
            case _:
                pass
    _end_failed(turn, cell, _lasting(cell, how) if after else how)


def _end_failed(turn: Deciding, cell: Cell, how: Ending) -> None:
    """End a group that failed, and say what has held it back from other ways that it has."""
    kept = held_back(turn, cell, how.failure) if how.failure is not None and cell.parent is not None else ()
    end_group(turn, cell, msgspec.structs.replace(how, stays=kept) if kept else how)


def _stays_in_visit(turn: Deciding, cell: Cell, how: Ending, failure: Failure, rung: str) -> bool:
    """Whether the visit goes on by a rung, or is good enough after all."""
    if rung == "retry":
        return repeat_group(turn, cell, how, failure)
    if rung == "relax":
        return relax_group(turn, cell, how, failure)
    return divert_group(turn, cell, how, failure, rung)


def _ask_about(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> None:
    """Ask about a group that is as good as over: nothing begins in it while somebody thinks."""
    if cell.status == "active":
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit}
        turn.record(e.StepStopping(**about, exit=how.exit, output=how.output, failure=failure, cause=how.cause))
    ask(turn, cell, failure, _answers_of(cell))


def _take_back_from(turn: Deciding, cell: Cell, owner: Cell, how: Ending, failure: Failure) -> None:
    if owner is not cell:
        _end_failed(turn, cell, _lasting(cell, how))
    take_back_in(turn, owner, failure, how.cause)


def _lasting(cell: Cell, how: Ending) -> Ending:
    """A failure that nothing is done against any more."""
    return how if cell.parent is None else msgspec.structs.replace(how, to="recover")


def _answers_of(cell: Cell) -> tuple[str, ...]:
    """A group can be entered again where a step can be jumped to."""
    is_in_line = cell.parent is not None and cell.parent.kind == "serial"
    return (AGAIN, CONTINUE, FAIL) if is_in_line else (CONTINUE, FAIL)


def _hear_group(turn: Deciding, cell: Cell, how: Ending) -> None:
    if cell.question in turn.state.questions:
        return
    match said_to(turn, cell)[0]:
        case "again":
            end_group(turn, cell, msgspec.structs.replace(how, to=cell.traits.id))
        case "continue":
            _end_failed(turn, cell, msgspec.structs.replace(how, goes_on=True))
        case _:
            _end_failed(turn, cell, _lasting(cell, how))
