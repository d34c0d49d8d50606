"""From the type hints of a function: the JSON Schema of its arguments, and a reader that holds arguments to it."""

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from perdure.plan.problems import Path, did_you_mean
from perdure.plan.sayings import sentence
from perdure.tools.context import Context
from perdure.tools.docstring import described
from perdure.tools.errors import BadFunction
from perdure.tools.failure import ToolFailure
from perdure.tools.values import NotJson, as_json_text

FEW: Final = 5
"""Flaws that are told of one call."""
_PLAIN: Final = (str, int, float, bool, list, dict, None, NoneType, Any)
_HOLDING: Final = (list, dict, Union, UnionType)
_CONFIG: Final = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class _Plain(GenerateJsonSchema):
    """Schemas without titles that only repeat names, and without warnings about defaults that are no JSON."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        _ = schema
        return False

    def emit_warning(self, kind: Any, detail: str) -> None:
        _ = kind, detail


class Signature:
    """How a function is called with arguments that were read. `BadFunction` if it cannot be called by name.

    What takes long is worked out when it is first asked for: most of the tools that are known are not used by a plan.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        _refuse_generators(function)
        self._function = function
        self._hints = _hints(function)
        taken = [_named(each) for each in inspect.signature(function).parameters.values()]
        self.context = next((each.name for each in taken if _is_context(self._hints.get(each.name))), None)
        """The parameter that takes the context."""
        self._taken = [each for each in taken if each.name != self.context]
        self.names: Mapping[str, str] = {f"p{n}": each.name for n, each in enumerate(self._taken)}
        """Parameters by the fields of the model, which have names of their own: a parameter may be called `schema`."""
        if not all(_is_plain(self._hints.get(each.name, Any)) for each in self._taken):
            _ = self.inputs  # whether JSON can hold it is told while it is written

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return _schema(self._function, self.model)

    @property
    def promise(self) -> Any:
        """What an approval of a call is bound to."""
        return self.inputs

    @cached_property
    def returns(self) -> dict[str, Any] | None:
        """JSON Schema of what is returned. None where nothing is promised, or nothing that a schema could say."""
        hint = self._hints.get("return", Any)
        if hint is Any:
            return None
        try:
            schema = TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_Plain)
        except (PydanticUserError, TypeError):
            return None
        return schema or None

    @cached_property
    def model(self) -> type[BaseModel]:
        """What arguments are read with."""
        return _model(self._function, self._taken, self._hints)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function wants them; what was left out stays out. `ToolFailure` if they do not fit."""
        try:  # through JSON, so that lists become tuples, texts dates, and no tool holds on to a value of the run
            found = self.model.__pydantic_validator__.validate_json(as_json_text(arguments, is_plain=True), strict=True)
        except ValidationError as error:
            raise ToolFailure("invalid", self._told(error)) from None
        except NotJson as error:
            raise ToolFailure("invalid", f"an argument is not JSON: {error}") from None
        values, names = found.__dict__, self.names
        return {names[field]: values[field] for field in found.__pydantic_fields_set__}

    def _told(self, error: ValidationError) -> str:
        details = error.errors(include_url=False, include_context=False)
        more = f"; and {len(details) - FEW} more" if len(details) > FEW else ""
        return "; ".join(self._flaw(each) for each in details[:FEW]) + more

    def _flaw(self, detail: ErrorDetails) -> str:
        place: Path = detail["loc"]
        if detail["type"] == "missing" and len(place) == 1:
            return f'the argument "{place[0]}" is missing'
        if detail["type"] == "extra_forbidden" and len(place) == 1:
            hint = did_you_mean(str(place[0]), self.names.values())
            return f'there is no argument "{place[0]}"' + (f" ({hint})" if hint else "")
        return sentence(detail)


def _refuse_generators(function: Callable[..., Any]) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadFunction(
            f"{_called(function)} is a generator", "return a list, and tell how far it is with context.progress"
        )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:
        hint = "import the types where the tool is defined, not only under `if TYPE_CHECKING`"
        raise BadFunction(f"the type hints of {_called(function)} cannot be read: {error}", hint) from error


def _named(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        return parameter
    raise BadFunction(
        f"`{parameter}` cannot be given by name", "a tool is called by names: write each parameter out, without * and /"
    )


def _is_context(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return set(get_args(hint)) == {Context, NoneType}
    return hint is Context


def _is_plain(hint: Any) -> bool:
    """Whether JSON can surely hold it."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_plain(inside[0])
    return hint in _PLAIN or origin is Literal or (origin in _HOLDING and all(map(_is_plain, inside)))


def _model(
    function: Callable[..., Any], parameters: list[inspect.Parameter], hints: Mapping[str, Any]
) -> type[BaseModel]:
    told = described(function)
    fields: dict[str, Any] = {
        f"p{n}": (hints.get(each.name, Any), _field(each, told.get(each.name))) for n, each in enumerate(parameters)
    }
    try:
        return create_model("Arguments", __config__=_CONFIG, **fields)
    except (PydanticUserError, TypeError) as error:
        raise _unreadable(function, error) from error


def _field(parameter: inspect.Parameter, description: str | None) -> Any:
    default = ... if parameter.default is parameter.empty else parameter.default
    return Field(default, alias=parameter.name, description=description)


def _schema(function: Callable[..., Any], model: type[BaseModel]) -> dict[str, Any]:
    try:
        schema = model.model_json_schema(schema_generator=_Plain)
    except PydanticUserError as error:
        raise _unreadable(function, error) from error
    return {word: schema[word] for word in schema if word != "title"}


def _unreadable(function: Callable[..., Any], error: Exception) -> BadFunction:
    why = str(error).partition("\n")[0]
    return BadFunction(f"{_called(function)} has a parameter that JSON cannot hold: {why}", "give it a type of JSON")


def _called(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", function))
