"""What stands behind the key of a step: the tool, the model or the agent that is called, read off the plan.

A run's state knows it too, and takes ten times as long to fold. What is asked here is a name, so nothing else is kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from perdure.core.events import NamesMapped
from perdure.core.names import Names
from perdure.errors import PerdureError
from perdure.plan.model.steps import kind_of
from perdure.plan.raw import is_list, is_mapping

CALLS: Final = ("tool", "model", "agent")
Raw = Mapping[str, Any]
Fetch = Callable[[str], bytes]
"""The bytes that are kept under a digest."""


class Callee(NamedTuple):
    """What a step is, and by which name it calls what it calls."""

    kind: str
    """`tool`, `model` or `agent` if it calls one, also to decide; else the kind of step."""
    name: str = ""


class Leaf(NamedTuple):
    """A step as it is written, and the step around it."""

    raw: Raw
    around: str


class Document(NamedTuple):
    """A plan, as far as it is asked for names."""

    name: str
    meta: Raw
    steps: dict[str, Leaf]

    @property
    def planner(self) -> str:
        """Who made it: a planner by name, `nobody` if a goal is served without a plan; else it counts as a person's."""
        if self.meta.get("unplanned"):
            return "nobody"
        inner = self.meta.get("metadata")
        said = self.meta.get("planner") or (inner.get("planner") if is_mapping(inner) else None)
        return said if isinstance(said, str) else "person"


def read_document(data: bytes) -> Document:
    """The plan in these bytes; one that cannot be read has no names."""
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        found = {}
    raw: Raw = found if is_mapping(found) else {}
    meta: Any = raw.get("meta")
    return Document(str(raw.get("name", "")), meta if is_mapping(meta) else {}, dict(leaves(raw.get("steps"))))


def leaves(steps: Any, around: str = "") -> Iterator[tuple[str, Leaf]]:
    """All steps in a list, by id, also those inside others."""
    stack = [(each, around) for each in steps] if is_list(steps) else []
    while stack:
        raw, outer = stack.pop()
        if not is_mapping(raw):
            continue
        id_ = str(raw.get("id", ""))
        yield id_, Leaf(raw, outer)
        stack += [(each, id_) for each in _inside(raw)]


def _inside(raw: Raw) -> Sequence[Any]:
    plan: Any = raw.get("plan")
    found: Any = plan.get("steps") if is_mapping(plan) else raw.get("steps") or raw.get("parallel")
    return found if is_list(found) else ()


def callee_of(raw: Raw) -> Callee:
    """What a step, or another way to do it, calls."""
    for kind in CALLS:
        if isinstance(name := raw.get(kind), str):
            return Callee(kind, name)
    chooser: Any = raw.get("decide")
    if is_mapping(chooser):
        return callee_of(chooser)
    plan: Any = raw.get("plan")
    return Callee(kind_of(raw) or "group", plan if isinstance(plan, str) else "")


class Naming:
    """The names behind the keys of one run."""

    def __init__(self, documents: "Documents", plan: str) -> None:
        self._documents = documents
        self.document = documents(plan)
        self._steps = dict[str, dict[str, Leaf]]({"": self.document.steps})
        """The steps whose keys begin so."""
        self._grown: dict[str, int] = {}
        """How many steps stand behind the keys that begin so."""
        self._callees: dict[str, Callee] = {}
        self._ways: dict[str, list[str]] = {}
        """The rungs that a visit has taken, by step."""
        self._names = Names()

    def __getitem__(self, key: str) -> Callee:
        found = self._callees.get(key)
        if found is None:
            found = self._callees[key] = self._called(self._raw(key))
        return found

    def around(self, key: str) -> Iterator[str]:
        """The steps around one, the innermost first."""
        while key:
            prefix, name = _split(key)
            leaf = None if key.endswith("]") else self._scope(prefix).get(name)
            inside = leaf is not None and leaf.around not in ("", _mapped(prefix))
            key = f"{prefix}{leaf.around}" if leaf is not None and inside else _holder(key, prefix)
            if key:
                yield key

    def _called(self, raw: Raw) -> Callee:
        found = callee_of(raw)
        return Callee("tool", self._names.tool(found.name)) if found.kind == "tool" else found

    def _raw(self, key: str) -> Raw:
        if key.endswith("]"):
            return {"kind": "item"}
        prefix, name = _split(key)
        leaf = self._scope(prefix).get(name)
        return leaf.raw if leaf is not None else {}

    def _scope(self, prefix: str) -> dict[str, Leaf]:
        found = self._steps.get(prefix)
        if found is None:
            map_ = prefix[: prefix.rfind("/")] if prefix.endswith("].") else ""
            found = self._steps[prefix] = self._scope(_split(map_)[0]) if map_ else {}
        return found

    # ------------------------------------------------------------ what facts change

    def entered(self, step: str, visit: int, plan: str) -> None:
        """A visit begins, in the usual way; `plan` is what a sub-plan's name stood for."""
        if self._ways.pop(step, None):
            self._callees.pop(step, None)
        if plan:
            self._steps[f"{step}/{visit}."] = self._documents(plan).steps

    def grown(self, step: str, visit: int, add: Sequence[Raw]) -> None:
        """Steps were added to a group."""
        prefix = f"{step}/{visit}."
        for raw in add:
            number = self._grown[prefix] = self._grown.get(prefix, 0) + 1
            id_ = str(raw.get("id", ""))
            inner = dict(leaves([raw]))
            self._steps.setdefault(prefix, {})[str(number)] = Leaf(raw, "")
            self._steps[f"{prefix}{number}."] = {
                name: Leaf(leaf.raw, "" if leaf.around == id_ else leaf.around) for name, leaf in inner.items()
            }

    def again(self, step: str, visit: int) -> None:
        """A group begins anew within its visit: what it has grown is forgotten."""
        if self._grown.pop(f"{step}/{visit}.", 0):
            self._forget(f"{step}/{visit}.")

    def _forget(self, prefix: str) -> None:
        self._steps = {key: each for key, each in self._steps.items() if not key.startswith(prefix)}
        self._callees = {key: each for key, each in self._callees.items() if not key.startswith(prefix)}

    def rung(self, step: str, visit: int, rung: str, tool: str) -> None:
        """A visit goes on in another way."""
        self.again(step, visit)
        taken = self._ways.setdefault(step, [])
        if tool:
            self._callees[step] = Callee("tool", self._names.tool(tool))
        elif (way := _way(self._raw(step), rung, taken)) is not None:
            self._callees[step] = self._called(way)
        taken.append(f"{rung}:{tool}" if tool else rung)

    def revised(self, edits: Sequence[Raw]) -> None:
        """The plan is another one now."""
        steps = dict(self._steps[""])
        for edit in edits:
            _edit(steps, edit)
        self._steps = {key: each for key, each in self._steps.items() if each is not self._steps[""]} | {"": steps}
        self._callees = {key: each for key, each in self._callees.items() if key in self._ways}

    def mapped(self, said: NamesMapped) -> None:
        """Tools are called otherwise."""
        self._names = self._names.after(said)
        self._callees.clear()


def _way(raw: Raw, rung: str, taken: Sequence[str]) -> Raw | None:
    """The way that a step has declared for a rung, after those that were taken."""
    if rung == "simplify":
        found: Any = raw.get("simpler")
        return found if is_mapping(found) else None
    others: Any = raw.get("alternates")
    number = taken.count("alternate")
    return others[number] if rung == "alternate" and is_list(others) and number < len(others) else None


def _edit(steps: dict[str, Leaf], edit: Raw) -> None:
    if isinstance(name := edit.get("amend"), str):
        if name in steps:
            steps[name] = Leaf({**steps[name].raw, **edit["fields"]}, steps[name].around)
        return
    near = str(edit.get("after") or edit.get("before") or edit.get("replace") or "")
    around = edit.get("into") or (steps[near].around if near in steps else "")
    new = edit.get("insert") or edit.get("step")
    steps.update(leaves([new], str(around)) if new else ())


def _split(key: str) -> tuple[str, str]:
    """What a key begins with, and the name after that."""
    at = key.rfind(".") + 1
    return key[:at], key[at:]


def _mapped(prefix: str) -> str:
    """The id of the map that the keys of an item begin with: what is around its steps is the item."""
    return _split(prefix[: prefix.rfind("/")])[1] if prefix.endswith("].") else ""


def _holder(key: str, prefix: str) -> str:
    """The step that holds those whose keys begin so: a map for its items, an item, an agent, a plan, a grown step."""
    if key.endswith("]"):
        return key[: key.rfind("/")]
    base = prefix[:-1]
    last = base[base.rfind("/") + 1 :]
    return base[: base.rfind("/")] if last.isdecimal() else base


class Documents:
    """Plans by digest, each read once for all runs of it. One that is not there, or is damaged, has no names."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch: Final = fetch
        self._read = lru_cache(maxsize=64)(self._document)

    def _document(self, digest: str) -> Document:
        try:
            return read_document(self._fetch(digest))
        except PerdureError:
            return read_document(b"")

    def __call__(self, digest: str) -> Document:
        """A plan by its digest."""
        return self._read(digest)
