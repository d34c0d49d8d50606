"""The JSON Schema of a plan, for editors and models: what may be written, with a sentence on every field."""

from collections.abc import Iterator
from typing import Final

from pydantic.json_schema import GenerateJsonSchema

from perdure.plan.model import parts
from perdure.plan.model.document import FORMAT, Plan
from perdure.plan.model.meaning import meanings
from perdure.plan.model.parts import Part
from perdure.plan.model.steps import STEP_TYPES
from perdure.plan.raw import Raw

DIALECT: Final = GenerateJsonSchema.schema_dialect
IDENTIFIER: Final = f"urn:perdure:plan:{FORMAT}"
SHORT_FORMS: Final[dict[str, list[dict[str, Raw]]]] = {
    "Criterion": [{"type": "string"}],
    "Context": [{"enum": ["all", "needs"]}, {"type": "array", "items": {"type": "string"}}],
    "Wait": [{"type": ["string", "number"]}],
}
"""Records that may be written shorter than they are kept."""
NOT_EMPTY: Final = {"Plan": "steps", "MapStep": "steps", "DecideStep": "choices"}
"""Lists that must have something in them."""


def plan_schema() -> dict[str, Raw]:
    """The schema of a plan document, as people write it."""
    schema = Plan.model_json_schema(by_alias=True, mode="validation", ref_template="#/$defs/{model}")
    definitions: dict[str, Raw] = schema["$defs"]
    for record in _records():
        _describe(record, definitions[record.__name__]["properties"])
    for name, forms in SHORT_FORMS.items():
        definitions[name] = {"anyOf": [*forms, definitions[name]]}
    for name, field in NOT_EMPTY.items():
        definitions.get(name, schema)["properties"][field]["minItems"] = 1
    for holder in (definitions.get("Plan", schema), definitions["GroupStep"]):
        _allow_parallel(holder)
    definitions.get("Plan", schema)["properties"]["$schema"] = {"type": "string", "description": "For editors."}
    return {"$schema": DIALECT, "$id": IDENTIFIER, **schema}


def _records() -> Iterator[type[Part]]:
    """Those that a plan is made of."""
    yield from (Plan, *STEP_TYPES.values())
    found = (each for each in vars(parts).values() if isinstance(each, type) and issubclass(each, Part))
    yield from (each for each in found if each is not Part)


def _describe(record: type[Part], properties: dict[str, Raw]) -> None:
    sentences = meanings(record)
    for name, info in record.model_fields.items():
        properties[info.alias or name]["description"] = sentences.get(name, "")


def _allow_parallel(holder: dict[str, Raw]) -> None:
    steps = holder["properties"]["steps"]
    told = {**steps, "description": "The steps inside, all at once: short for `mode: graph` without needs."}
    holder["properties"]["parallel"] = told
    holder["required"] = [name for name in holder["required"] if name != "steps"]
    holder["oneOf"] = [{"required": ["steps"]}, {"required": ["parallel"]}]
