"""Numbered execution plans: steps 1..n, each a `domain.tool` with parameters and dependencies.

The models are strict on purpose: this dialect is written by programs, and a program that sends
`"1"` for 1 has a bug that should be found here and not at step seven.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from perdure.plan.expr import escaped
from perdure.plan.model.parts import JsonObject, JsonSchema, Many, ToolName
from perdure.plan.problems import Path, Problem
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.sayings import saying

NUMBER_WORDS: Final = ("step_number", "number", "step")
ASK: Final = "ask"
"""The id of the step that asks a person for what the request does not say."""
ASKING: Final = "Some things are needed that nobody has said yet."
IN_THE_PLAN: Final = frozenset({"request", "steps", "ask", "requires_lookahead", "checkpoints"})
"""Fields that have a place of their own in a plan; all others are kept as they are."""
FIELDS: Final = "a step has step_number, tool, parameters, depends_on, description, condition"
MESSAGES: Final = {
    "string_pattern_mismatch": ("is no name of a tool", "write domain.tool, as in weather.current"),
    "extra_forbidden": ("is no field of a numbered plan", FIELDS),
    "missing": ("is missing", FIELDS),
    "int_type": ("must be a whole number", 'write 1, not "1"'),
    "too_short": ("must not be empty", FIELDS),
}


class PlanStatus(StrEnum):
    """How far an execution plan has come."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    REPLANNING = "replanning"


class _Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_by_name=True, validate_by_alias=True, allow_inf_nan=False
    )


class ExecutionStep(_Strict):
    """One call of a tool, known by its number."""

    step_number: Annotated[int, Field(ge=1, validation_alias=AliasChoices(*NUMBER_WORDS))]
    tool: Annotated[ToolName, Field(validation_alias=AliasChoices("tool", "tool_name"))]
    parameters: Annotated[JsonObject, Field(validation_alias=AliasChoices("parameters", "params", "arguments"))] = {}
    depends_on: Annotated[Many[int], Field(validation_alias=AliasChoices("depends_on", "dependencies"))] = ()
    description: str = ""
    condition: str | None = None

    @property
    def id(self) -> str:
        """The id of the step in a plan."""
        return f"step_{self.step_number}"


def _now(context: Raw) -> datetime | None:
    return context.get("now") if is_mapping(context) else None


class ExecutionPlan(_Strict):
    """A numbered plan with its state, as an assistant keeps it."""

    id: str = ""
    request: Annotated[str, Field(validation_alias=AliasChoices("request", "goal"))] = ""
    reasoning: str = ""
    steps: Annotated[Many[ExecutionStep], Field(min_length=1)]
    status: Annotated[PlanStatus, Field(strict=False)] = PlanStatus.PENDING
    created_at: Annotated[AwareDatetime | None, Field(strict=False)] = None
    updated_at: Annotated[AwareDatetime | None, Field(strict=False)] = None
    completed_steps: Many[int] = ()
    failed_steps: Many[int] = ()
    ask: JsonSchema | None = None
    """What a person is asked for before the first step: the JSON Schema of a form.

    A parameter takes an answer by `${steps.ask.output.NAME}`.
    """
    requires_lookahead: bool = False
    """Whether something has to be looked up before the plan can act."""
    checkpoints: Many[int] = ()
    """The steps that look it up; a later turn goes on after them."""
    context: JsonObject = {}
    metadata: JsonObject = {}

    @field_validator("created_at", "updated_at")
    @classmethod
    def _not_in_the_future(cls, moment: datetime | None, info: ValidationInfo) -> datetime | None:
        now: datetime = _now(info.context) or datetime.now(UTC)
        if moment is not None and moment > now:
            raise PydanticCustomError("future", "the timestamp lies in the future")
        return moment

    @model_validator(mode="after")
    def _keep_the_rules(self) -> Self:
        broken = [*self._numbering(), *self._dependencies(), *self._outcomes(), *self._lookups()]
        if broken:
            text = "; ".join(rule.message for rule in broken)
            raise PydanticCustomError("rules", "{text}", {"text": text, "broken": broken})
        return self

    def _numbering(self) -> Iterator[Problem]:
        for wanted, step in enumerate(self.steps, 1):
            if step.step_number != wanted:
                message = (
                    f"step {step.step_number} stands where step {wanted} should: steps are numbered 1 to n without gaps"
                )
                yield Problem("PRD1604", message, ("steps", wanted - 1), f"write step_number: {wanted}")

    def _dependencies(self) -> Iterator[Problem]:
        for place, step in enumerate(self.steps):
            for number in step.depends_on:
                if not 1 <= number < step.step_number:
                    message = f"step {step.step_number} depends on {number}, which does not come before it"
                    hint = "depend on earlier steps only, or change the order"
                    yield Problem("PRD1605", message, ("steps", place), hint)

    def _outcomes(self) -> Iterator[Problem]:
        known = {step.step_number for step in self.steps}
        for number in sorted({*self.completed_steps, *self.failed_steps}):
            if number in self.completed_steps and number in self.failed_steps:
                hint = "take it out of one of the two lists"
                yield Problem("PRD1607", f"step {number} is both completed and failed", ("failed_steps",), hint)
            elif number not in known:
                where = "completed_steps" if number in self.completed_steps else "failed_steps"
                yield Problem("PRD1607", f"step {number} does not exist", (where,), "name steps of this plan")

    def _lookups(self) -> Iterator[Problem]:
        for number in self.checkpoints:
            if not 1 <= number <= len(self.steps):
                yield Problem("PRD1407", f"step {number} does not exist", ("checkpoints",), "name steps of this plan")

    def as_document(self) -> dict[str, Raw]:
        """The same plan in the current format, as plain data."""
        kept = self.model_dump(mode="json", exclude_defaults=True, exclude=set(IN_THE_PLAN))
        document: dict[str, Raw] = {"perdure": 1, "goal": escaped(self.request), "mode": "graph"}
        if self.requires_lookahead:
            document["requires_lookahead"] = True
        if self.checkpoints:
            document["checkpoints"] = [found_after(number) for number in self.checkpoints]
        document["steps"] = list(self._step_documents())
        return {**document, **({"meta": kept} if kept else {})}

    def _step_documents(self) -> Iterator[dict[str, Raw]]:
        """The question, the steps, and a checkpoint after each lookup; nothing begins before all is known."""
        if self.ask is not None:
            yield {"id": ASK, "ask": escaped(str(self.ask.get("description", ASKING))), "form": self.ask}
        for step in self.steps:
            looked_up = [found_after(number) for number in step.depends_on if number in self.checkpoints]
            asked = [ASK] if self.ask is not None and not step.depends_on else []
            yield _step_document(step, [*asked, *looked_up])
            if step.step_number in self.checkpoints:
                yield {"id": found_after(step.step_number), "checkpoint": True, "needs": [step.id]}


def found_after(number: int) -> str:
    """The id of the checkpoint after a step that looks something up."""
    return f"found_{number}"


def _step_document(step: ExecutionStep, after: list[str]) -> dict[str, Raw]:
    document: dict[str, Raw] = {"id": step.id, "title": step.description, "tool": step.tool, "with": step.parameters}
    document["needs"] = [*(f"step_{number}" for number in step.depends_on), *after]
    return {**document, **({"when": step.condition} if step.condition else {})}


def speaks_numbers(document: Raw) -> bool:
    """Whether the steps of a document are numbered."""
    steps = document.get("steps") if is_mapping(document) else document
    return is_list(steps) and any(is_mapping(step) and _is_numbered(step) for step in steps)


def _is_numbered(step: Mapping[str, Raw]) -> bool:
    numbered = "step_number" in step or "number" in step or isinstance(step.get("step"), int)
    return numbered and "id" not in step and "label" not in step


def translate(document: Raw, now: datetime | None = None) -> tuple[Raw, list[Problem]]:
    """A numbered plan in the current format, or the rules that it breaks."""
    raw: Raw = dict(document) if is_mapping(document) else {"steps": document}
    raw.pop("$schema", None)
    prefix: Path = () if is_mapping(document) else ("steps",)
    try:
        plan = ExecutionPlan.model_validate(raw, context={"now": now})
    except ValidationError as error:
        return None, list(_problems(error, prefix))
    return plan.as_document(), []


def _problems(error: ValidationError, prefix: Path) -> Iterator[Problem]:
    found = error.errors(include_url=False)
    for each in found:
        if each["type"] == "rules":
            broken: list[Problem] = each.get("ctx", {})["broken"]
            yield from (replace(rule, path=_without(rule.path, prefix)) for rule in broken)
        elif each["type"] != "too_short" or len(found) == 1:  # else empty only because what is in it was refused
            yield _problem(each, _without(tuple(each["loc"]), prefix))


def _without(path: Path, prefix: Path) -> Path:
    return path[len(prefix) :] if path[: len(prefix)] == prefix else path


def _problem(error: ErrorDetails, path: Path) -> Problem:
    name = path[-1] if path else "steps"
    if error["type"] == "future":
        return Problem("PRD1606", "the timestamp lies in the future", path, "write when it was made, with its zone")
    message, hint = MESSAGES.get(error["type"], (saying(error), FIELDS))
    return Problem("PRD1103", f"`{name}` {message}", path, hint)
