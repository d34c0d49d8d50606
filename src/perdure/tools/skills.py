"""Which tools may stand in for another one: by the skills that they declare, and by nothing that is guessed.

A tool that is found so has all the skills that are asked for, takes the arguments as they are, and says of itself that
it does nothing to the world that the other one does not do. One that does not say what it does is never found, nor is
one that the rules forbid: what went wrong would be hidden behind a call that nobody may make.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from perdure.core.calls import Call
from perdure.core.policy import Layer, judge
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import AnyTool


def standing_in(
    known: Mapping[str, AnyTool], call: Call, skills: Sequence[str], layers: tuple[Layer, ...] = ()
) -> list[str]:
    """The tools that may be called in place of a call's own, the cheapest first, then by name."""
    own = known.get(call.name)
    if own is None:
        return []
    takers = [known[name] for name in able_instead(known, own, skills) if _takes(known[name], call.arguments)]
    return [each.name for each in takers if _may(each, call.arguments, layers)]


def able_instead(known: Mapping[str, AnyTool], own: AnyTool, skills: Sequence[str]) -> list[str]:
    """The tools that have the skills and do nothing to the world that another one does not do; the cheapest first."""
    able = [each for each in known.values() if each is not own and set(skills) <= set(each.declared.skills)]
    found = [each for each in able if _does_no_more(each, own)]
    return [each.name for each in sorted(found, key=lambda each: (_cost(each), each.name))]


def _does_no_more(tool: AnyTool, own: AnyTool) -> bool:
    """Whether its declared effects are among those of another; of one that declares none, the worst is not assumed."""
    allowed = own.declared.words(careful=own.repeat == "never")
    return tool.declared.effects is not None and set(tool.declared.effects) <= set(allowed)


def _takes(tool: AnyTool, arguments: Mapping[str, Any]) -> bool:
    try:
        tool.signature.read(arguments)
    except ToolFailure:
        return False
    return True


def _may(tool: AnyTool, arguments: Mapping[str, Any], layers: tuple[Layer, ...]) -> bool:
    """Whether no rule forbids what it says it is about to do. Where a person is to be asked, that comes later."""
    return all(judge(layers, deed).verdict != "deny" for deed in tool.deeds(arguments))


def _cost(tool: AnyTool) -> float:
    """What a call is expected to cost; one that does not say comes last."""
    return (tool.declared.estimate or {}).get("usd", inf)
