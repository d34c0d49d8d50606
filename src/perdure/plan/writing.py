"""Writing: a plan as YAML for people. For machines there is `Plan.canonical_json`."""

import re
from typing import Any, ClassVar, Final

import yaml

from perdure.plan.model.document import Plan
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.reading.yaml_text import FLOAT, INTEGER, NOT_FINITE, RADIX, WORDS

WIDTH: Final = 110
ODD_BREAKS: Final = re.compile("[\x85\u2028\u2029\ufeff]")
SAID_BY_KEY: Final = ("done", "fail", "checkpoint")
"""Kinds whose key has a default, and so is missing from the canonical form."""


def to_yaml(plan: Plan) -> str:
    """The plan as a person would write it: kinds told by their keys, `parallel:` where nothing is needed."""
    return yaml.dump(
        _for_people(plan.canonical()),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=None,
    )


def _for_people(item: dict[str, Raw]) -> dict[str, Raw]:
    found = {key: value for key, value in item.items() if key != "kind"}
    if item.get("kind") in SAID_BY_KEY:
        found.setdefault(str(item["kind"]), True)
    if is_mapping(inline := found.get("plan")):
        found["plan"] = _for_people({**inline})
    if "steps" in found:
        steps = [_for_people(step) for step in found.pop("steps")]
        found |= _ordered(steps, found.pop("mode", "serial"), is_map="map" in found)
    if "output" in found:
        found["output"] = found.pop("output")  # what comes out stands last
    return found


def _ordered(steps: list[dict[str, Raw]], mode: str, *, is_map: bool) -> dict[str, Raw]:
    if mode == "serial":
        return {"steps": steps}
    if not is_map and not any("needs" in step for step in steps):
        return {"parallel": steps}
    told = all("needs" in step for step in steps[1:]) and any("needs" in step for step in steps)
    return {"steps": steps} if told else {"mode": "graph", "steps": steps}


class _Dumper(yaml.SafeDumper):
    """Quotes what a YAML 1.2 reader would take for something else than a text, and nothing more."""

    yaml_implicit_resolvers: ClassVar[Any] = {}

    def ignore_aliases(self, data: Raw) -> bool:  # noqa: ARG002  the signature is PyYAML's
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  the signature is PyYAML's
        return super().increase_indent(flow, False)  # noqa: FBT003  lists are indented below their key


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Line ends that only some readers know are written as escapes."""
    style = '"' if ODD_BREAKS.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)  # pyright: ignore[reportUnknownMemberType]  untyped in its stubs


_Dumper.add_representer(str, _text)
for _kind, (_pattern, _first) in {
    "null": ("|".join(word for word, value in WORDS.items() if value is None), "~nN"),
    "bool": ("|".join(word for word, value in WORDS.items() if value is not None), "tTfF"),
    "int": (f"{INTEGER.pattern}|{RADIX.pattern}", "-+0123456789"),
    "float": (f"{FLOAT.pattern}|{NOT_FINITE.pattern}", "-+.0123456789"),
}.items():
    _Dumper.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]  untyped in its stubs
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), [*_first, ""]
    )
