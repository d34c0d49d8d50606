"""What changes when words of the plan stand for others: whoever is asked about them. Part of the fold."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from heapq import heapify
from typing import Any, cast

from perdure.core import events as e
from perdure.core.names import Names, Pairs
from perdure.core.state import Rules, State
from perdure.plan.toolbox import Toolbox


def names_mapped(state: State, event: e.NamesMapped) -> None:
    """From now on, these words stand for others. Who waits in line for a tool waits for the other one."""
    state.names = state.names.after(event)
    state.rules = by_words(state.given, state.names)
    for word in list(state.hungry):
        if (tool := state.names.tool(word)) != word:
            state.hungry[tool] = [*state.hungry.get(tool, ()), *state.hungry.pop(word)]
            heapify(state.hungry[tool])


def by_words(rules: Rules, names: Names) -> Rules:
    """What is known of tools, strategies and plans, by the words that the plan has for them."""
    called, tool, made = names.called, names.tool, replace(rules)
    made.repeat = lambda call: rules.repeat(called(call))
    made.seconds = lambda call: rules.seconds(called(call))
    made.estimate = lambda call, said: rules.estimate(called(call), said)
    made.knows = lambda call: rules.knows(called(call))
    made.probes = lambda name: rules.probes(tool(name))
    made.undo = lambda name: rules.undo(tool(name))
    made.lasts = lambda name: rules.lasts(tool(name))
    made.revisers = _by_words(rules.revisers, names.tools)
    made.strategies = _by_words(rules.strategies, names.strategies)
    made.plans = _by_words(rules.plans, names.plans)
    made.toolbox = lambda: _known_by_words(rules.toolbox(), names.tools)
    return made


def _by_words(known: Mapping[str, Any], names: Pairs) -> dict[str, Any]:
    kept = {name: each for name, each in known.items() if name not in names}
    return kept | {old: known[new] for old, new in names.items() if new in known}


def _known_by_words(toolbox: Toolbox | None, names: Pairs) -> Toolbox | None:
    """A toolbox that knows the old names, too. Schemas are made of those that are looked at."""
    if toolbox is None or not names:
        return toolbox
    aliases = {old: toolbox.tools[new] for old, new in names.items() if new in toolbox.tools}
    tools = ChainMap(aliases, cast("Any", toolbox.tools))
    return toolbox.model_copy(update={"tools": tools})
