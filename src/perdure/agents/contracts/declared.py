"""Tools as actions: what they declare to require and to achieve, beside what the document says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from perdure.agents.contracts.document import Action, Contracts
from perdure.agents.contracts.errors import ContractsError
from perdure.plan.facts import fact_of, kinds_of
from perdure.plan.problems import Problem
from perdure.tools.tool import AnyTool


@dataclass(frozen=True, slots=True)
class Joined:
    """All that can be done."""

    actions: Mapping[str, Action]
    lacking: Mapping[str, str]
    """Tools that are not there, by the action that would call them."""


def joined(contracts: Contracts, tools: Iterable[AnyTool] | None) -> Joined:
    """The actions of a document and those of tools; where both speak of a tool, the document counts."""
    known = {each.name: each for each in tools or ()}
    called = {name: called_by(name, action) for name, action in contracts.actions.items()}
    actions = {name: _whole(name, action, known.get(called[name])) for name, action in contracts.actions.items()}
    spoken_of = set(called.values())
    actions |= {name: _action_of(tool) for name, tool in known.items() if name not in spoken_of and _is_action(tool)}
    lacking = {name: tool for name, tool in called.items() if tool and tools is not None and tool not in known}
    return Joined(actions, lacking)


def called_by(name: str, action: Action) -> str:
    """The tool that an action calls; empty: none."""
    return "" if action.step is not None else action.tool or name


def _whole(name: str, action: Action, tool: AnyTool | None) -> Action:
    """An action with what its tool declares, where it says nothing itself."""
    if action.effects:
        return action
    if tool is None or not tool.declared.achieves:
        hint = "write `effects`: what holds once it is done; or let the tool declare what it achieves"
        raise ContractsError([Problem(ContractsError.code, f'"{name}" changes nothing', ("actions", name), hint)])
    own = _action_of(tool)
    return action.model_copy(
        update={"requires": own.requires, "effects": own.effects, "with_": {**own.with_, **action.with_}}
    )


def _variables_of(tool: AnyTool) -> Iterable[str]:
    return kinds_of(map(fact_of, (*tool.declared.requires, *tool.declared.achieves)))


def _is_action(tool: AnyTool) -> bool:
    """Whether its contract says all that it has to be called with."""
    required = tool.signature.inputs.get("required", ()) if tool.declared.achieves else ()
    return bool(tool.declared.achieves) and set(required) <= set(_variables_of(tool))


def _action_of(tool: AnyTool) -> Action:
    said = tool.declared
    arguments = {name: f"?{name}" for name in _variables_of(tool)}
    return Action(requires=tuple(said.requires), effects=tuple(said.achieves), tool=tool.name, with_=arguments)
