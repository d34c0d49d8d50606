"""A run lives longer than the code around it: what it still calls and what is there, before it goes on.

A tool that was renamed is found here, and not by the step that fails for want of it an hour later.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, Final

from perdure.core import events as e
from perdure.core.calling import Called, effects_of, still_called
from perdure.core.names import AGENT, KINDS, Names, flaw_in
from perdure.core.refusing import NotMapped
from perdure.core.state import Rules, State
from perdure.errors import PerdureError
from perdure.plan.checks.contracts import check_arguments
from perdure.plan.model.parts import ANYBODY
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import is_list, is_mapping
from perdure.tools import AnyTool
from perdure.tools.failure import ToolFailure

FEW: Final = 5
"""Steps, and things that are missing, that a sentence names."""
TOLD: Final = frozenset({"key", "output", "context"})
"""What a tool's way back is told besides the arguments of the call."""
_KIND_OF: Final = {"tool": "tools", "undo": "tools", "strategy": "strategies", "plan": "plans"}
_ONE_OF: Final = {"tools": "tool", "strategies": "strategy", "plans": "plan"}


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that a run still calls, and that is not there as it is called."""

    kind: str
    """`tool`, `strategy` or `plan`."""
    name: str
    """The word of the plan."""
    steps: tuple[str, ...]
    """Who calls it."""
    why: str
    """What is wrong, in a sentence."""
    near: str = ""
    """What may be meant."""

    def __str__(self) -> str:
        few = ", ".join(self.steps[:FEW]) + (f" and {len(self.steps) - FEW} more" if len(self.steps) > FEW else "")
        return f"{self.why} (called by {few})" + (f"; {self.near}" if self.near else "")


class Gone(PerdureError):
    """A run still calls what is not there any more. It stays as it was."""

    code: ClassVar[str] = "PRD3204"
    exit_code: int = 6

    def __init__(self, run: str, lacks: Iterable[Lack]) -> None:
        self.lacks = tuple(lacks)
        told = "; ".join(map(str, self.lacks[:FEW]))
        more = f"; and {len(self.lacks) - FEW} more" if len(self.lacks) > FEW else ""
        super().__init__(f"what is left of the run cannot be done here: {told}{more}", _what_to_do(run, self.lacks))


def _what_to_do(run: str, lacks: tuple[Lack, ...]) -> str:
    names = " ".join(f"--map {name}=NEW" for name in dict.fromkeys(each.name for each in lacks[:FEW]))
    ways = [
        f"say what it is called now: `perdure resume {run} {names}`",
        f"change what is left of the plan: `perdure edit {run}`",
        f"end it: `perdure cancel {run}`",
    ]
    is_tool = any(each.kind == "tool" for each in lacks)
    return "; or ".join((["name the module that has it with --tools"] if is_tool else []) + ways)


class Here:
    """What there is to call, in one engine."""

    def __init__(self, tools: Mapping[str, AnyTool], rules: Rules, *, is_all: bool) -> None:
        self._tools = tools
        self._rules = rules
        self._is_all = is_all
        """Whether nobody else performs what is not among the tools."""
        self._flaws: dict[tuple[str, ...], tuple[str, str] | None] = {}
        """What is wrong with arguments of these names, by the tool and them: steps of a plan are much alike."""

    # ------------------------------------------------------------ what is missing

    def check(self, state: State) -> None:
        """`Gone` if a run that goes on from here would call what is not there."""
        self._refuse(state.run, still_called(state), state.names)

    def check_back(self, state: State) -> None:
        """`Gone` if what a run has done could not be taken back."""
        begun = (Called("tool", cell.traits.tool, key) for key, cell in state.flying.items() if cell.traits.tool)
        self._refuse(state.run, (*effects_of(state), *begun), state.names)

    def _refuse(self, run: str, called: Iterable[Called], names: Names) -> None:
        if lacks := list(self._lacks(called, names)):
            raise Gone(run, lacks)

    def _lacks(self, called: Iterable[Called], names: Names) -> Iterator[Lack]:
        """Every name once, with what is wrong about it and who calls it so."""
        found: dict[tuple[str, str, str, str], dict[str, None]] = {}
        for each in called:
            flaw = self._flaw(each, names)
            if flaw is not None:
                kind = _ONE_OF[_KIND_OF[each.kind]]
                found.setdefault((kind, each.name, *flaw), {})[each.step] = None
        for (kind, name, why, near), steps in found.items():
            yield Lack(kind, name, tuple(steps), why, near)

    def _flaw(self, called: Called, names: Names) -> tuple[str, str] | None:
        match called.kind:
            case "strategy":
                return self._strategy_flaw(called, names)
            case "plan":
                return _not_there("plan", called.name, names.plans, self._rules.plans)
            case _:
                return self._tool_flaw(called, names)

    def _strategy_flaw(self, called: Called, names: Names) -> tuple[str, str] | None:
        known = self._rules.strategies
        if called.agent and f"agent:{called.agent}" not in known and not self._is_all:
            return None  # somebody else sees to it
        flaw = _not_there("strategy", called.name, names.strategies, known)
        return flaw or _other(known[names.strategies.get(called.name, called.name)], called.given)

    def _tool_flaw(self, called: Called, names: Names) -> tuple[str, str] | None:
        tool = self._tools.get(names.tool(called.name))
        if tool is None:
            return _not_there("tool", called.name, names.tools, self._tools) if self._is_all else None
        if called.kind == "undo":
            return _undo_flaw(tool, called.given or {})
        is_new = tool.name != called.name
        return self._misfit(tool, called.given, is_new=is_new) if called.given is not None else None

    def _misfit(self, tool: AnyTool, given: Mapping[str, Any], *, is_new: bool) -> tuple[str, str] | None:
        """Why a tool does not take what it is given, as far as a start would refuse it; of a new one, also by value."""
        if not (self._is_all or is_new):
            return None
        words = (tool.name, *given)
        if words not in self._flaws:
            problems = check_arguments(tool.name, tool.signature.inputs, given, ())
            self._flaws[words] = next(((each.message, each.help) for each in problems), None)
        return self._flaws[words] or (_unfit(tool, given) if is_new and _is_literal(given) else None)

    # ------------------------------------------------------------ what is called otherwise now

    def mapped(self, state: State, said: Mapping[str, str], by: str) -> e.NamesMapped:
        """What somebody says about names, as a fact. `NotMapped` or `Gone` if it cannot be so, or does not help."""
        called = list(still_called(state))
        pairs: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        for old, new in said.items():
            for kind in self._kinds_of(old, called, state.names):
                pairs[kind][old] = new
        message = e.NamesMapped(**pairs, by=by)
        if flaw := flaw_in(state.names, message):
            raise NotMapped(flaw, "say what each name that is gone is called now")
        names = state.names.after(message)
        self._refuse_unknown(message, names)
        if state.ended is None:
            self._refuse(state.run, called, names)
        return message

    def _kinds_of(self, old: str, called: list[Called], names: Names) -> list[str]:
        """What a word is the name of: of what is missing, if something is."""
        mine = [each for each in called if old in (each.name, getattr(names, _KIND_OF[each.kind]).get(each.name))]
        missing = [each for each in mine if self._flaw(each, names) is not None]
        if not mine and not (self._rules.strategies and "." in old):  # else a strategy may still call it
            words = {each.name for each in called}
            hint = did_you_mean(old, words) or "`perdure show` tells what is left"
            raise NotMapped(f'nothing that is left of the run calls "{old}"', hint)
        return list(dict.fromkeys(_KIND_OF[each.kind] for each in missing or mine)) or ["tools"]

    def _refuse_unknown(self, message: e.NamesMapped, names: Names) -> None:
        known = {"tools": self._tools, "strategies": self._rules.strategies, "plans": self._rules.plans}
        for kind in KINDS:
            for old in getattr(message, kind):
                new = getattr(names, kind).get(old, old)
                if kind == "strategies" and old.startswith(AGENT):
                    _refuse_agent(new, known[kind])
                elif new not in known[kind] and (kind != "tools" or self._is_all):
                    raise NotMapped(f'there is no {_ONE_OF[kind]} "{new}"', _near(new, known[kind]))


def _not_there(kind: str, word: str, names: Mapping[str, str], known: Mapping[str, Any]) -> tuple[str, str] | None:
    name = names.get(word, word)
    if name in known:
        return None
    stands = "" if name == word else f', which "{word}" stands for'
    return f'there is no {kind} "{name}"{stands}', _near(name, known)


def _near(name: str, known: Iterable[str]) -> str:
    """What may be meant: of agents one who can be named, and of what is none no agent."""
    if name.startswith(AGENT):
        return did_you_mean(name, _agents_in(known))
    return did_you_mean(name, [each for each in known if not each.startswith(AGENT)])


def _agents_in(known: Iterable[str]) -> list[str]:
    return [each for each in known if each.startswith(AGENT) and each != f"{AGENT}{ANYBODY}"]


def _refuse_agent(new: str, known: Iterable[str]) -> None:
    """An agent goes on as another one, and not as whoever has the skills: who that is, is chosen at the start."""
    agents = _agents_in(known)
    if new not in agents:
        hint = did_you_mean(new, agents) or f"name one of {', '.join(sorted(agents)[:FEW])}"
        raise NotMapped(f'an agent is now called as another one is, and "{new}" is none', hint)


def _other(strategy: Any, noted: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """Why a strategy cannot go on with what it has noted, where it can tell."""
    why_not = getattr(strategy, "why_not", None)
    told = why_not(noted) if why_not is not None and noted is not None else ""
    return (told, "") if told else None


def _undo_flaw(tool: AnyTool, given: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why a tool cannot take back what was done: it does not any more, or wants what was not kept for that."""
    function = tool.declared.undo
    if function is None:
        return f'the tool "{tool.name}" has no way to take back what it did', ""
    needed = [each.name for each in signature(function).parameters.values() if each.default is Parameter.empty]
    lacks = [name for name in needed if name not in given and name not in TOLD]
    return (f'to take back, "{tool.name}" wants {", ".join(lacks)}, which was not kept', "") if lacks else None


def _unfit(tool: AnyTool, given: Mapping[str, Any]) -> tuple[str, str] | None:
    try:
        tool.signature.read(given)
    except ToolFailure as failure:
        return f'"{tool.name}" does not take what it is given: {failure.failure.message}', ""
    return None


def _is_literal(value: Any) -> bool:
    if isinstance(value, str):
        return "${" not in value
    inside = value.values() if is_mapping(value) else value if is_list(value) else ()
    return all(map(_is_literal, inside))
