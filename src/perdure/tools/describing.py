"""All that a tool says about itself, as data and in words: what people look at before they let a plan use it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from perdure.plan.raw import Raw, is_list
from perdure.tools.builtin import BUILTIN, HANDS
from perdure.tools.declaring import Declaration
from perdure.tools.tool import AnyTool

MANY: Final = 5
"""A choice among more records than this is not spelt out."""
_KINDS: Final = {"object": "mapping", "string": "text"}


def described(tool: AnyTool, origin: str = "") -> dict[str, Any]:
    """A tool as plain data. `origin` is told by whoever knows better than the tool where it came from."""
    declared, careful = tool.declared, tool.repeat == "never"
    return {
        "name": tool.name,
        "summary": tool.summary,
        "origin": origin or origin_of(tool),
        "arguments": arguments_of(tool),
        "inputs": tool.signature.inputs,
        "returns": tool.signature.returns,
        "repeat": "by arguments" if callable(tool.repeat) else tool.repeat,
        "probe": declared.probe is not None,
        "undo": declared.undo is not None,
        "reversible": declared.is_reversible(careful=careful),
        "effects": list(declared.words(careful=careful)),
        "assumed": declared.effects is None,
        **_reached(declared),
        "judges": declared.judges,
        "estimate": dict(declared.estimate or {}),
        "failures": [each.data() for each in declared.failures],
        "skills": list(declared.skills),
        "requires": list(declared.requires),
        "achieves": list(declared.achieves),
        "limit": tool.limit,
        "timeout": tool.timeout,
        "isolate": tool.isolate,
        "definition": tool.definition,
    }


def origin_of(tool: AnyTool) -> str:
    """Where a tool came from, as far as it knows itself."""
    if any(each is tool for each in (*BUILTIN, *HANDS)):
        return "built in"
    return tool.declared.origin or tool.address


def _reached(declared: Declaration) -> dict[str, list[str]]:
    return {word: list(getattr(declared, word)) for word in ("reads", "writes", "hosts", "resources")}


def arguments_of(tool: AnyTool) -> list[dict[str, Any]]:
    """The arguments in their order: name, type in words, whether it must be given, default, meaning."""
    schema = tool.signature.inputs
    required = schema.get("required", ())
    return [_argument(name, info, name in required) for name, info in schema.get("properties", {}).items()]


def _argument(name: str, info: Mapping[str, Any], required: bool) -> dict[str, Any]:  # noqa: FBT001  it is what it says
    default = {} if required else {"default": info.get("default")}
    told = {"name": name, "type": in_words(info), "required": required, **default}
    return {**told, "meaning": info.get("description", "")}


def in_words(schema: Mapping[str, Any], many: str = "record") -> str:
    """What a JSON Schema takes, in a few words; `many` stands for one of many records."""
    if "anyOf" in schema:
        choices = [in_words(each, many) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(choices))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"`{json.dumps(each).strip(chr(34))}`" for each in values)
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "oneOf" in schema:
        choices = schema["oneOf"]
        return many if len(choices) > MANY else " or ".join(in_words(each, many) for each in choices)
    return _plain(schema, many)


def _plain(schema: Mapping[str, Any], many: str) -> str:
    kind: Raw = schema.get("type", "any value")
    if kind == "array":
        return f"list of {in_words(schema.get('items', {}), many)}"
    return " or ".join(map(str, kind)) if is_list(kind) else _KINDS.get(kind, str(kind))
