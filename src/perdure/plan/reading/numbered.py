"""Numbered execution plans: steps 1..n, each a `domain.tool` with parameters and dependencies.

The models are strict on purpose: this dialect is written by programs, and a program that sends
`"1"` for 1 has a bug that should be found here and not at step seven.
"""

from collections.abc import Iterable, Mapping
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
from pydantic_core import PydanticCustomError

from perdure.plan.model.parts import JsonObject, Many, ToolName
from perdure.plan.problems import Path, Problem
from perdure.plan.raw import Raw, is_list, is_mapping

NUMBER_WORDS: Final = ("step_number", "number", "step")
CODES: Final = {"numbering": "PRD1604", "dependency": "PRD1605", "future": "PRD1606", "overlap": "PRD1607"}


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
    context: JsonObject = {}
    metadata: JsonObject = {}

    @field_validator("created_at", "updated_at")
    @classmethod
    def _not_in_the_future(cls, moment: datetime | None, info: ValidationInfo) -> datetime | None:
        told: Raw = info.context
        now: datetime = (told or {}).get("now") or datetime.now(UTC)
        if moment is not None and moment > now:
            raise PydanticCustomError("future", "the timestamp lies in the future")
        return moment

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        numbers = [step.step_number for step in self.steps]
        if numbers != list(range(1, len(numbers) + 1)):
            found = ", ".join(str(number) for number in numbers[:20])
            raise PydanticCustomError(
                "numbering",
                "steps are numbered 1 to {count} without gaps, in order; found {found}",
                {"count": len(numbers), "found": found},
            )
        return self

    @model_validator(mode="after")
    def _backward(self) -> Self:
        for step in self.steps:
            for number in step.depends_on:
                if not 1 <= number < step.step_number:
                    raise PydanticCustomError(
                        "dependency",
                        "step {step} depends on {number}; a step depends on earlier steps only",
                        {"step": step.step_number, "number": number},
                    )
        return self

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        both = sorted(set(self.completed_steps) & set(self.failed_steps))
        if both:
            raise PydanticCustomError(
                "overlap", "steps {both} are both completed and failed", {"both": ", ".join(map(str, both))}
            )
        unknown = sorted({*self.completed_steps, *self.failed_steps} - {step.step_number for step in self.steps})
        if unknown:
            raise PydanticCustomError(
                "overlap", "steps {unknown} do not exist", {"unknown": ", ".join(map(str, unknown))}
            )
        return self

    def as_document(self) -> dict[str, Raw]:
        """The same plan in the current format, as plain data."""
        kept = self.model_dump(mode="json", exclude_defaults=True, exclude={"request", "steps"})
        document: dict[str, Raw] = {"perdure": 1, "goal": self.request, "mode": "graph"}
        document["steps"] = [_step_document(step) for step in self.steps]
        return {**document, **({"meta": kept} if kept else {})}


def _step_document(step: ExecutionStep) -> dict[str, Raw]:
    document: dict[str, Raw] = {"id": step.id, "title": step.description, "tool": step.tool, "with": step.parameters}
    document["needs"] = [f"step_{number}" for number in step.depends_on]
    return {**document, **({"when": step.condition} if step.condition else {})}


def speaks_numbers(document: Raw) -> bool:
    """Whether the steps of a document are numbered."""
    steps = document.get("steps") if is_mapping(document) else document
    return is_list(steps) and any(is_mapping(step) and _is_numbered(step) for step in steps)


def _is_numbered(step: Mapping[str, Raw]) -> bool:
    return any(word in step for word in NUMBER_WORDS) and "id" not in step and "label" not in step


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


def _problems(error: ValidationError, prefix: Path) -> Iterable[Problem]:
    hint = "a numbered plan has request and steps; a step has step_number, tool, parameters, depends_on, description"
    found = error.errors(include_url=False)
    for each in found:
        if each["type"] == "too_short" and len(found) > 1:
            continue  # empty only because what is in it was refused
        path = each["loc"][len(prefix) :] if each["loc"][: len(prefix)] == prefix else each["loc"]
        message = each["msg"].replace("Input should be", "must be")
        yield Problem(CODES.get(each["type"], "PRD1103"), message, tuple(path), hint)
