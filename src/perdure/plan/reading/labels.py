"""The label dialect: `label, agent_key, on_success, on_fail, steps, parallel_steps`.

It is read, never written. What its authors left open is decided here, once, and said as a warning:

- A step with neither agent nor children nor targets is an end (`done`).
- Elsewhere a missing success target means the next step; a missing failure target fails upward.
- A step without an agent but with targets is a savepoint (`checkpoint`).
- `on_success: dynamic` lets the agent choose: among `choices`, or else among all sibling labels.
- `complete` and `manual_intervention` are supplied where they are aimed at but not defined.
- The target of a jump backwards may be visited ten times, unless it says otherwise.
- A step with agent, `steps` and `parallel_steps` runs them in that order.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from perdure.plan.model.parts import ID_PATTERN
from perdure.plan.model.steps import KIND_KEYS, RESERVED_IDS, RESERVED_TARGETS
from perdure.plan.problems import Path, Problem
from perdure.plan.raw import Raw, is_list, is_mapping

LABEL_WORDS: Final = ("label", "agent_key", "on_success", "on_fail", "on_failure", "parallel_steps")
FIELDS: Final = ("label", "agent_key", "on_success", "on_fail", "steps", "parallel_steps", "choices")
BLOCKS: Final = ("steps", "parallel", "parallel_steps")
DYNAMIC: Final = "dynamic"
DEFAULT_VISITS: Final = 10
MOST_CHOICES: Final = 200
"""Siblings that `dynamic` may mean without naming them."""
ID: Final = re.compile(ID_PATTERN)
SUPPLIED: Final[dict[str, dict[str, Raw]]] = {
    "complete": {"id": "complete", "title": "The end", "done": True},
    "manual_intervention": {
        "id": "manual_intervention",
        "ask": "This could not go on by itself. Mend it by hand, then approve to finish, or reject to fail.",
        "on": {"approved": "done", "rejected": "fail"},
    },
}


@dataclass(frozen=True)
class LabelStep:
    """One step of the label dialect, for plans that are written in Python."""

    label: str
    agent_key: str | None = None
    on_success: str | None = None
    on_fail: str | None = None
    steps: Sequence[object] | None = None
    parallel_steps: Sequence[object] | None = None
    choices: Sequence[str] | None = None


def record_of(step: object) -> Raw:
    """A label step as plain data, whether it is a `LabelStep`, a mapping or another record with those fields."""
    if is_mapping(step):
        found = dict(step)
    elif hasattr(step, "label"):
        found = {name: getattr(step, name) for name in FIELDS if getattr(step, name, None) is not None}
    else:
        return step
    for key in ("steps", "parallel_steps"):
        if is_list(found.get(key)):
            found[key] = [record_of(child) for child in found[key]]
    return found


def speaks_labels(steps: Raw) -> bool:
    """Whether any step, at any depth, uses a word of this dialect."""
    return any(any(word in step for word in LABEL_WORDS) for step, _ in _all_steps(steps, ()))


def _all_steps(steps: Raw, path: Path) -> Iterator[tuple[Mapping[str, Raw], Path]]:
    stack: list[tuple[Raw, Path]] = [(steps, path)]
    while stack:
        items, place = stack.pop()
        for position, step in enumerate(items if is_list(items) else ()):
            if is_mapping(step):
                here = (*place, position)
                yield step, here
                stack.extend((step[key], (*here, key)) for key in BLOCKS if key in step)


@dataclass
class _Place:
    """Where a label stands: in which list, at which position."""

    id: str
    lists: tuple[Path, ...]
    """The lists around it, outermost first; the last one is its own."""
    position: int
    path: Path


@dataclass
class _Translator:
    """Carries what must be known of all labels while each one is translated."""

    prefix: Path
    problems: list[Problem] = field(default_factory=list[Problem])
    places: dict[str, _Place] = field(default_factory=dict[str, _Place])
    origins: dict[str, Path] = field(default_factory=dict[str, Path])
    """Where each translated step came from, by its new id."""
    bounded: set[str] = field(default_factory=set[str])
    undefined: dict[str, Path] = field(default_factory=dict[str, Path])
    supplied: set[str] = field(default_factory=set[str])
    taken: set[str] = field(default_factory=set[str])
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    # ------------------------------------------------------------ names

    def learn(self, steps: Raw) -> None:
        """Give every label an id: itself where it can be one, and a name like it where not."""
        found: dict[str, Path] = {}
        for step, path in _all_steps(steps, self.prefix):
            label = step.get("label", step.get("id"))
            if isinstance(label, str):
                found.setdefault(label, path)
        self.taken = {label for label in found if ID.fullmatch(label) and label not in RESERVED_IDS}
        for label, path in found.items():
            own = label if label in self.taken else self._renamed(label, path)
            self.places[label] = _Place(own, _lists_in(path), _last_index(path), path)

    def _renamed(self, label: str, path: Path) -> str:
        wanted = re.sub(r"[^A-Za-z0-9_]", "_", label) or "_"
        wanted = self.fresh(f"_{wanted}" if wanted[0].isdigit() else wanted)
        why = "it means something else" if label in RESERVED_IDS else "ids are letters, digits and _"
        self.assume(path, f'the label "{label}" became the id "{wanted}", because {why}')
        return wanted

    def fresh(self, wanted: str) -> str:
        """An id like this one that nobody has."""
        found, number = wanted, 1
        while found in self.taken or found in RESERVED_IDS:
            number = self.numbers[wanted] = self.numbers.get(wanted, 1) + 1
            found = f"{wanted}_{number}"
        self.taken.add(found)
        return found

    # ------------------------------------------------------------ steps

    def steps(self, steps: Sequence[Raw], path: Path) -> list[Raw]:
        return [self.step(step, (*path, position)) for position, step in enumerate(steps)]

    def step(self, raw: Raw, path: Path) -> Raw:
        if not is_mapping(raw):
            return raw
        step = {key: value for key, value in raw.items() if key not in (*LABEL_WORDS, "id", "steps")}
        for key in ("steps", "parallel_steps"):
            if raw.get(key) is not None and not is_list(raw[key]):
                self._refuse((*path, key), f"`{key}` must be a list of steps", "put the steps into a list")
        label = self._label(raw, path)
        if label is not None:
            step["id"] = self.places[label].id if label in self.places else label
            self.origins[str(step["id"])] = path
        elif "id" in raw:
            step["id"] = raw["id"]  # to be refused for what it is
        self._targets(raw, step, path)
        return self._work(raw, step, path)

    def _label(self, raw: Mapping[str, Raw], path: Path) -> str | None:
        label, name = raw.get("label"), raw.get("id")
        if label is not None and name is not None and label != name:
            self._refuse(path, f'a step is called both "{label}" (label) and "{name}" (id)', "keep `id`")
        found = label if label is not None else name
        if label is not None and not isinstance(label, str):
            self._refuse((*path, "label"), "a label must be a text", "put it into quotes")
        return found if isinstance(found, str) else None

    def _targets(self, raw: Mapping[str, Raw], step: dict[str, Raw], path: Path) -> None:
        if not any(word in raw for word in LABEL_WORDS):
            return
        on: dict[str, Raw] = dict(raw["on"]) if is_mapping(raw.get("on")) else {}
        for word, exit_ in (("on_success", "success"), ("on_fail", "failure"), ("on_failure", "failure")):
            target = raw.get(word)
            if target is None or (exit_ == "success" and target == DYNAMIC):
                continue
            if exit_ in on:
                self._refuse((*path, word), f"`{word}` and `on.{exit_}` both say where {exit_} leads", "keep `on`")
            on[exit_] = self._target(target, path, (*path, word))
        if on:
            step["on"] = on

    def _target(self, target: Raw, path: Path, place: Path) -> Raw:
        if not isinstance(target, str):
            return target
        if target in self.places:
            self._bound(target, path)
            return self.places[target].id
        if target in SUPPLIED:
            self.supplied.add(target)
            return target
        if target not in RESERVED_TARGETS:
            self.undefined.setdefault(target, place)
        return target

    def _bound(self, target: str, path: Path) -> None:
        place = self.places[target]
        here = place.lists[-1]
        if path[: len(here)] == here:
            position = path[len(here)]
            if isinstance(position, int) and position >= place.position:
                self.bounded.add(place.id)

    # ------------------------------------------------------------ kinds

    def _work(self, raw: Mapping[str, Raw], step: dict[str, Raw], path: Path) -> Raw:
        blocks = [key for key in ("steps", "parallel_steps") if is_list(raw.get(key)) and raw[key]]
        native = any(key in step for key in (*KIND_KEYS, "parallel"))
        agent = raw.get("agent_key")
        if not any(word in raw for word in LABEL_WORDS):
            return self._native(raw, step, path)
        if native and agent is not None:
            self._refuse((*path, "agent_key"), "`agent_key` stands beside a kind of its own", "keep `agent`")
            agent = None
        if raw.get("on_success") == DYNAMIC:
            return self._dynamic(raw, step, blocks, path)
        if agent is None and native:
            if not any(end in step for end in ("done", "fail")):
                self._fails_upward(step)
            return self._native(raw, step, path)
        if agent is None and not blocks:
            return self._agentless(raw, step, path)
        self._fails_upward(step)
        return self._group(raw, step, blocks, path) if blocks else {**step, "agent": agent_name(agent)}

    def _native(self, raw: Mapping[str, Raw], step: dict[str, Raw], path: Path) -> Raw:
        for key in ("steps", "parallel"):
            if is_list(raw.get(key)):
                step[key] = self.steps(raw[key], (*path, key))
        return step

    def _agentless(self, raw: Mapping[str, Raw], step: dict[str, Raw], path: Path) -> Raw:
        if raw.get("label") == "manual_intervention":
            return self._intervention(step)
        if step.get("on"):
            self.assume(path, f'"{step.get("id")}" has no agent but has targets: it is read as a checkpoint')
            return {**step, "checkpoint": True}
        self.assume(path, f'"{step.get("id")}" has neither agent nor children nor targets: it is read as an end')
        return {**step, "done": True}

    def _intervention(self, step: dict[str, Raw]) -> Raw:
        on: dict[str, Raw] = step.get("on") or {}
        answers = {"approved": on.get("success", "done"), "rejected": on.get("failure", "fail")}
        return {**SUPPLIED["manual_intervention"], **step, "on": answers}

    def _dynamic(self, raw: Mapping[str, Raw], step: dict[str, Raw], blocks: list[str], path: Path) -> Raw:
        agent = raw.get("agent_key")
        if blocks or agent is None:
            hint = "write the choice as a step of its own, with an agent, after this one"
            self._refuse((*path, "on_success"), "`dynamic` needs an agent and no children", hint)
        self._fails_upward(step)
        chooser = {"agent": agent_name(agent) if isinstance(agent, str) else "branching"}
        choices = self._choices(raw, path)
        if not choices and agent is not None and not blocks:
            hint = "declare `choices`, or add the steps to choose from"
            self._refuse((*path, "on_success"), "`dynamic` has nothing to choose from", hint)
        return {
            **step,
            "decide": chooser,
            "choices": choices or ["done"],
            **({} if choices else {"on": {"done": "done"}}),
        }

    def _choices(self, raw: Mapping[str, Raw], path: Path) -> list[Raw]:
        declared = raw.get("choices")
        if is_list(declared) and declared:
            return [self._target(choice, path, (*path, "choices")) for choice in declared]
        siblings = [
            label for label, place in self.places.items() if place.lists[-1] == path[:-1] and place.path != path
        ]
        if len(siblings) > MOST_CHOICES:
            hint = "declare `choices`"
            self._refuse((*path, "on_success"), f"`dynamic` would mean {len(siblings):,} siblings", hint)
            siblings = siblings[:1]
        self.assume((*path, "on_success"), "`dynamic` without choices: any sibling label may be chosen")
        return [self._target(sibling, path, (*path, "on_success")) for sibling in siblings]

    def _group(self, raw: Mapping[str, Raw], step: dict[str, Raw], blocks: list[str], path: Path) -> Raw:
        agent = raw.get("agent_key")
        inner = {key: self.steps(raw[key], (*path, key)) for key in blocks}
        if agent is None and len(blocks) == 1:
            return {**step, ("parallel" if blocks == ["parallel_steps"] else "steps"): inner[blocks[0]]}
        name = str(step.get("id", ""))
        parts: list[Raw] = []
        if agent is not None:
            own = {"id": self.fresh(f"{name}_agent"), "agent": agent_name(agent), "on": {"failure": "fail"}}
            parts.append(own)
        if "steps" in inner:
            parts.append({"id": self.fresh(f"{name}_steps"), "steps": inner["steps"]})
        if "parallel_steps" in inner:
            parts.append({"id": self.fresh(f"{name}_parallel"), "parallel": inner["parallel_steps"]})
        for part in parts:
            self.origins[part["id"]] = path
        return {**step, "steps": parts}

    def _fails_upward(self, step: dict[str, Raw]) -> None:
        if is_mapping(on := step.get("on", {})):
            step["on"] = {**on, "failure": on.get("failure", "fail")}

    # ------------------------------------------------------------ what is said

    def assume(self, path: Path, message: str) -> None:
        self.problems.append(Problem("PRD1602", message, path, "write it in the current format", severity="warning"))

    def _refuse(self, path: Path, message: str, hint: str) -> None:
        self.problems.append(Problem("PRD1603", message, path, hint))


def agent_name(key: Raw) -> Raw:
    """`code_agent` is the agent `code`."""
    return (key.removesuffix("_agent") or key) if isinstance(key, str) else key


def _lists_in(path: Path) -> tuple[Path, ...]:
    return tuple(path[:n] for n, segment in enumerate(path) if isinstance(segment, int))


def _last_index(path: Path) -> int:
    return int(path[-1])


@dataclass(frozen=True)
class Labels:
    """What came out of a document in this dialect."""

    steps: list[Raw]
    problems: list[Problem]
    origins: dict[str, Path]


def translate(steps: Sequence[Raw], prefix: Path = ("steps",)) -> Labels:
    """Label steps as steps of the current format."""
    work = _Translator(prefix)
    work.learn(steps)
    done = work.steps(steps, prefix)
    if work.undefined:
        names = ", ".join(f'"{name}"' for name in work.undefined)
        first = next(iter(work.undefined.values()))
        hint = "define a step with each label, or aim at complete, manual_intervention, next, done, fail"
        work.problems.append(Problem("PRD1601", f"these targets are not defined: {names}", first, hint))
    done = _supply(done, work)
    for step in _flat(done):
        if str(step.get("id")) in work.bounded and "done" not in step and "fail" not in step:
            step.setdefault("max_visits", DEFAULT_VISITS)
    return Labels(done, work.problems, work.origins)


def _supply(steps: list[Raw], work: _Translator) -> list[Raw]:
    if not work.supplied:
        return steps
    last = steps[-1]
    ends = ("done", "fail", "decide", "ask", "wait")
    if is_mapping(last) and not any(key in last for key in ends) and is_mapping(on := last.get("on", {})):
        steps[-1] = {**last, "on": {"success": "done", **on}}
    for name in sorted(work.supplied):
        work.assume(work.prefix, f'the target "{name}" is not defined: it is supplied')
    return [*steps, *({**SUPPLIED[name]} for name in SUPPLIED if name in work.supplied)]


def _flat(steps: Iterable[Raw]) -> Iterator[dict[str, Raw]]:
    stack = list(steps)
    while stack:
        step: Raw = stack.pop()
        if is_mapping(step):
            yield cast("dict[str, Raw]", step)
            for key in ("steps", "parallel"):
                stack.extend(step[key] if is_list(step.get(key)) else ())
