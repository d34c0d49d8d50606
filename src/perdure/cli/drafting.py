"""Plans that a model makes: each is the work of a planning agent, in a run that is remembered like any other."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from perdure.agents.planners import SERVING, Asked, Made, NoPlanner
from perdure.agents.requests.assessing import assess
from perdure.agents.requests.selecting import Catalogue
from perdure.agents.requests.wanting import wants_of
from perdure.agents.strategies.draft import INPUTS, SECRETS
from perdure.agents.substituting import references
from perdure.cli.carrying import Carry
from perdure.config import Settings
from perdure.config.policy import load_policy
from perdure.config.secrets import load_secrets
from perdure.core.ladder import UNASKED
from perdure.engine.result import Result
from perdure.models.answering import read_value
from perdure.models.tiers import CONFIGURE
from perdure.plan import Plan
from perdure.plan.index import Index
from perdure.plan.model.parts import ID_PATTERN
from perdure.plan.raw import Raw, is_mapping, kind_of
from perdure.plan.reading import read_data
from perdure.plan.shortening import shortened

SHOWN: Final = 40
"""Tools that a model is shown: all that are named, then those that a search finds for the goal."""
TOLD: Final = 400
"""Pieces of tokens that a model is told of a value that is given; the plan has it whole."""
PLANNING: Final[Mapping[str, Any]] = {
    "perdure": 1,
    "name": "planning",
    "goal": "Plan: ${inputs.goal}",
    "inputs": {
        "goal": {"type": "string"},
        "tools": {"type": "array", "items": {"type": "string"}},
        "inputs": {"type": "object", "default": {}},
        "secrets": {"type": "array", "default": []},
    },
    "budget": {"calls": 8},
    "recovery": UNASKED,
    "output": "${steps.plan.output}",
}
"""The plan by which plans are made. It asks nobody: whoever waits for a plan hears why there is none."""
PLANNERS: Final = {"simple": "planning", "compound": "planning", "large": "comprehensive_planner"}
"""Who makes a plan, by how much there is to the goal."""

ANEW: Final[Mapping[str, Any]] = {"planner": "planning", "otherwise": SERVING, "most": 6}
"""What is done where a step of such a plan fails for good: it is planned anew, three times at most, then served.

Where a person is still to be asked it is not served, but fails: nobody goes on without a plan past a question.
"""


def drafted(asked: Asked, settings: Settings, carry: Carry) -> Made:
    """A plan for a goal, by the model that is configured."""
    if not settings.heads.tiers:
        raise NoPlanner("no plan could be made: model: no model is configured", CONFIGURE)
    shown, found = _shown(asked), assess(asked.goal, asked.tools)
    given = asked.known(tuple(want for name in shown for want in wants_of(asked.tools[name].facts().inputs)))
    agent = PLANNERS[found.complexity]
    facts = {"tools": shown, **_told_of(given), **_secrets_here()}
    run, result = _drafted(agent, asked.goal, facts, carry)
    if result.status != "succeeded":
        why = result.failure.message if result.failure else result.status
        raise NoPlanner(f"no plan could be made: model: {why}", f"see: perdure show {run}")
    plan = _plan_in(result.output, given, agent, run)
    why = (f"the goal is {found.complexity}: {found.why}", f"the agent {agent} made it: perdure show {run}")
    return Made(plan, "model", why, left=tuple(_untaken(plan, given)))


def _shown(asked: Asked) -> list[str]:
    """All tools that somebody has named, and those that a search finds as far as there is room."""
    ranked = Catalogue(asked.tools).ranked(asked.goal)
    return list(dict.fromkeys((*asked.named, *ranked)))[: max(SHOWN, len(asked.named))]


def _secrets_here() -> dict[str, Any]:
    """What a model is told of secrets: what they are called."""
    names = sorted(load_secrets(source=load_policy(Path.cwd()).secrets) or ())
    return {SECRETS: names} if names else {}


def _drafted(agent: str, goal: str, facts: Mapping[str, Any], carry: Carry) -> tuple[str, Result]:
    given = {name: f"${{inputs.{name}}}" for name in facts}
    step = {"id": "plan", "agent": agent, "task": "${inputs.goal}", "with": given}
    return carry(Plan.model_validate({**PLANNING, "steps": [step]}), {"goal": goal, **facts})


def _plan_in(output: Any, given: Mapping[str, Raw], agent: str, run: str) -> Plan:
    """The plan that an agent gave. One of the user's own may work in another way, and write its plan as a text."""
    found: Any = read_value(output, None)[0] if isinstance(output, str) else output
    read = read_data({**_with_values(found, given), "adjust": ANEW} if is_mapping(found) else found)
    if read.plan is not None and not read.errors:
        return read.plan
    told = f'what the agent "{agent}" has answered is no plan: {read.errors[0].message}'
    hint = f"give it `strategy: draft`, or have it answer with a plan as JSON; see: perdure show {run}"
    raise NoPlanner(f"no plan could be made: model: {told}", hint)


# ------------------------------------------------------------------------------- values that are given


def _told_of(given: Mapping[str, Raw]) -> dict[str, Any]:
    """What a model is told of values. What cannot be the name of an input is none of the plan's."""
    told = {name: shortened(value, TOLD) for name, value in given.items() if re.fullmatch(ID_PATTERN, name)}
    return {INPUTS: told} if told else {}


def _with_values(document: Mapping[str, Any], given: Mapping[str, Raw]) -> Mapping[str, Any]:
    """A plan whose inputs have the values that were given, unless somebody gives others when it begins."""
    inputs = document.get(INPUTS)
    if not is_mapping(inputs):
        return document
    values = {name: {**_typed(given[name]), "default": given[name]} for name in inputs if name in given}
    return {**document, INPUTS: {**inputs, **values}}


def _typed(value: Raw) -> dict[str, str]:
    """Of a value that says nothing, any type will do."""
    return {} if value is None else {"type": kind_of(value)}


def _untaken(plan: Plan, given: Mapping[str, Raw]) -> Iterator[str]:
    """The values that no step takes, neither by name nor as they stand."""
    index = Index(plan)
    roots = (each for node in index.nodes for each in references(node) if each.root == INPUTS)
    named = {str(each.parts[0]) if each.parts else "" for each in roots}
    steps = json.dumps(plan.canonical().get("steps"), ensure_ascii=False)
    for name, value in given.items():
        is_written = json.dumps(value, ensure_ascii=False).strip('"') in steps
        if not (named & {name, ""} or is_written):
            yield f"-i {name}"
