"""A plan from its own canonical form, without a second look at its values.

They were looked at before the plan was kept, and its digest tells that they are the same ones. So nothing is built to
look at them with, which would take longer than all the rest of going on with a run.
"""

import json
from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import Discriminator, Tag

from perdure.collector import Undisturbed
from perdure.plan.model.document import FORMAT, Plan, name_of
from perdure.plan.model.parts import Part
from perdure.plan.model.steps import STEP_TYPES, AnyStep
from perdure.plan.raw import Raw

Make = Callable[[Any], Raw]
"""Makes a value of what is written."""
Record = TypeVar("Record", bound=Part)
_set: Final = object.__setattr__  # records are frozen


def recalled(data: bytes) -> Plan:
    """The plan that was written as these bytes. `ValueError` if this release would not have written them."""
    try:
        with Undisturbed():
            plan = _plan(json.loads(data))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no plan in canonical form: {error!r}") from error
    vars(plan)["hash"] = name_of(data)  # else it would be written once more, to be named
    return plan


def _plan(written: Mapping[str, Raw]) -> Plan:
    if written["perdure"] != FORMAT:
        raise ValueError(f"its format is {written['perdure']!r}, and this release reads {FORMAT}")
    return _made(Plan, written)


def _plan_or_name(written: Raw) -> Plan | str:
    return written if isinstance(written, str) else _plan(written)


def _steps(written: Raw) -> tuple[AnyStep, ...]:
    return tuple(_made(STEP_TYPES[each["kind"]], each) for each in written)


def _made(record: type[Record], written: Mapping[str, Raw]) -> Record:
    makers, values, names = _makers(record), _blank(record).copy(), set[str]()
    for word, raw in written.items():
        name, make = makers[word]
        values[name] = raw if make is None else make(raw)
        names.add(name)
    if not names.issuperset(_required(record)):
        raise ValueError(f"a part of {record.__name__} is missing")
    made = record.__new__(record)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", names)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


@cache
def _blank(record: type[Part]) -> dict[str, Raw]:
    """The fields in their order, with their defaults."""
    return {name: info.get_default() for name, info in record.model_fields.items()}


@cache
def _required(record: type[Part]) -> list[str]:
    return [name for name, info in record.model_fields.items() if info.is_required()]


# ------------------------------------------------------------------------------- from what is written to a value


@cache
def _makers(record: type[Part]) -> dict[str, tuple[str, Make | None]]:
    """The name of each field by the word it is written with; and what makes its value, where that is not the same."""
    hints: dict[str, Any] = {}
    for each in reversed(record.__mro__):
        hints |= vars(each).get("__annotations__", {})
    return {info.alias or name: (name, _maker(hints[name])) for name, info in record.model_fields.items()}


def _maker(hint: Any) -> Make | None:
    if isinstance(hint, str):  # what is named before it is there
        return _plan_or_name if hint == "PlanOrName" else _steps
    if isinstance(hint, type) and issubclass(hint, Part):
        return partial(_made, hint)
    return _holder(get_origin(hint), get_args(hint))


def _holder(origin: Any, inside: tuple[Any, ...]) -> Make | None:
    if origin is Annotated:
        return _by_tag(*inside) or _maker(inside[0])
    if origin is tuple:
        return _each(_maker(inside[0]))
    if origin is dict:
        return _each_value(_maker(inside[1]))
    if origin in (Union, UnionType) and NoneType in inside:
        return _perhaps(_maker(inside[0]))
    return None


def _by_tag(union: Any, *about: Any) -> Make | None:
    """One of several, as its tag tells; None if there is no tag."""
    tag_of = next((each.discriminator for each in about if isinstance(each, Discriminator)), None)
    if not callable(tag_of):
        return None
    makers: dict[Hashable, Make] = {_tag(each): _maker(each) or _as_it_is for each in get_args(union)}
    return lambda written: makers[tag_of(written)](written)


def _tag(hint: Any) -> str:
    return next(each.tag for each in get_args(hint) if isinstance(each, Tag))


def _as_it_is(written: Raw) -> Raw:
    return written


def _each(make: Make | None) -> Make:
    return tuple if make is None else lambda written: tuple(map(make, written))


def _each_value(make: Make | None) -> Make | None:
    return make and (lambda written: {word: make(each) for word, each in written.items()})


def _perhaps(make: Make | None) -> Make | None:
    return make and (lambda written: None if written is None else make(written))
