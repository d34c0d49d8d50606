"""Writing down what was found as a plan: a graph whose steps wait for what they require."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from perdure.agents.contracts.document import Contracts
from perdure.agents.contracts.errors import ContractsError
from perdure.agents.contracts.grounding import Way
from perdure.agents.contracts.ordering import Order
from perdure.plan.facts import Fact, fact_of, told
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import RESERVED_IDS
from perdure.plan.problems import Problem
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading import read_data
from perdure.plan.toolbox import Toolbox

LONGEST_ID: Final = 60
_VARIABLE: Final = re.compile(r"\?([A-Za-z_][A-Za-z0-9_]*)(?![A-Za-z0-9_])")


def draft(contracts: Contracts, ways: Sequence[Way], order: Order, toolbox: Toolbox | None = None) -> Plan:
    """The plan; `PlanError` if what the contracts say about a step makes no step."""
    ids = ids_of(ways)
    steps = [_step(n, ways, ids, order) for n in range(len(ways))]
    document: dict[str, Any] = {"perdure": 1, "goal": goal_of(contracts), "mode": "graph", "steps": steps}
    for word in ("inputs", "budget", "policy", "meta"):
        if value := getattr(contracts, word):
            document[word] = value if isinstance(value, dict) else value.model_dump(exclude_defaults=True)
    return read_data(document, toolbox=toolbox).usable()


def goal_of(contracts: Contracts) -> str:
    """What is to be achieved, in a sentence."""
    return contracts.goal or ", ".join(contracts.wanted)


def _step(n: int, ways: Sequence[Way], ids: Sequence[str], order: Order) -> dict[str, Any]:
    way, action = ways[n], ways[n].action
    step: dict[str, Any] = {"id": ids[n]}
    if title := filled(action.title, way.bound):
        step["title"] = title
    if action.step is None:
        arguments = {**filled(action.with_, way.bound), **_taken(n, way, ids, order)}
        step |= {"tool": action.tool or way.name, **({"with": arguments} if arguments else {})}
    else:
        step |= filled(action.step, way.bound)
    if needs := order.needs[n]:
        step["needs"] = [ids[each] for each in needs]
    if action.estimate is not None:
        step["estimate"] = action.estimate.model_dump(exclude_defaults=True)
    return {**step, "effects": effects_of(way)}


def effects_of(way: Way) -> list[str]:
    """What a step makes true and false, in the order in which its action says so."""
    facts = [fact_of(text) for text in way.action.effects]
    return list(dict.fromkeys(_told(each, way) for each in facts if each.holds or each.atom(way.bound) in way.ends))


def _told(fact: Fact, way: Way) -> str:
    return told(fact.atom(way.bound), holds=fact.holds)


def _taken(n: int, way: Way, ids: Sequence[str], order: Order) -> dict[str, str]:
    """Arguments that are what another step gives; of what was so from the start, `with` has to say it."""
    found: dict[str, str] = {}
    for name, text in way.action.takes.items():
        atom = fact_of(text).atom(way.bound)
        maker = order.producers.get((n, (atom, True)))
        if maker is not None:
            found[name] = f"${{steps.{ids[maker]}.output}}"
        elif name not in way.action.with_:
            message = f"`{told(atom)}` was so from the start, and no step gives {way} its `{name}`"
            hint = f"say in `with` what `{name}` is then, as in `${{inputs.{name}}}`"
            raise ContractsError([Problem(ContractsError.code, message, ("actions", way.name, "takes", name), hint)])
    return found


def filled(value: Raw, bound: Mapping[str, str]) -> Raw:
    """A value with objects for the variables in its texts; what looks like one of another action stays as it is."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: bound.get(found[1], found[0]), value)
    if is_mapping(value):
        return {key: filled(each, bound) for key, each in value.items()}
    return [filled(each, bound) for each in value] if is_list(value) else value


# ------------------------------------------------------------------------------- ids


def ids_of(ways: Sequence[Way]) -> list[str]:
    """Names for steps, after what they do; one that comes again is numbered."""
    ids: list[str] = []
    for way in ways:
        name = _id_of(way)
        fresh, number = name, 1
        while fresh in ids or fresh in RESERVED_IDS:
            number += 1
            fresh = f"{name}_{number}"
        ids.append(fresh)
    return ids


def _id_of(way: Way) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join((way.name, *way.objects))).strip("_")
    return f"_{name}"[:LONGEST_ID] if name[:1].isdigit() or not name else name[:LONGEST_ID]
