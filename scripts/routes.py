"""Generated parts about the HTTP API: its routes, and the records that are sent and answered."""

import asyncio
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from perdure import Engine
from perdure.server import app_of
from perdure.server.reference import Field, by_noun, operations
from perdure.server.reference import records as all_records


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of the API, as it is served."""

    async def made() -> dict[str, Any]:
        async with Engine.open() as engine:
            return app_of(engine).openapi()

    return asyncio.run(made())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _rows(fields: Iterable[Field]) -> Iterator[str]:
    yield "| field | takes | | meaning |\n|---|---|---|---|\n"
    for each in fields:
        yield f"| `{each.name}` | {_cell(each.kind)} | {'required' if each.must else ''} | {_cell(each.meaning)} |\n"


def routes() -> Iterator[str]:
    """Every route: its scope, its parameters, what is sent and what is answered."""
    for noun, found in by_noun(operations(document())).items():
        yield f"\n## {noun.capitalize()}\n"
        for each in found:
            takes = f" Takes {each.body}." if each.body else ""
            yield f"\n### {each.method} {each.path}\n\n{each.about}\n\n"
            yield f"Scope `{each.scope}`.{takes} Answers {'; '.join(each.answers)}.\n"
            if each.parameters:
                yield "\n"
                yield from _rows(each.parameters)


def records() -> Iterator[str]:
    """What is sent and answered, each with its fields."""
    for name, about, fields in all_records(document()):
        yield f"\n### {name}\n\n{about}\n\n"
        yield from _rows(fields)
