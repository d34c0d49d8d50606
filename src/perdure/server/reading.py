"""The page of the reference: plain HTML of one's own, which needs no script and nothing from elsewhere."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, Final

from perdure.server.reference import Field, Operation, by_noun, operations, records

STYLE: Final = "/docs.css"
INERT: Final = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""What a browser may do with the page: show it."""


def page(document: dict[str, Any]) -> str:
    """Every route and every record, on one page."""
    return "".join(_page(document))


def _page(document: dict[str, Any]) -> Iterator[str]:
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f'<title>{title}</title><link rel="stylesheet" href="{STYLE}"></head><body><h1>{title}</h1>'
    yield f"<p>{_said(document['info']['description'])}</p>"
    yield '<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>'
    for noun, found in by_noun(operations(document)).items():
        yield f"<h2>{escape(noun)}</h2>"
        yield from (part for each in found for part in _operation(each))
    yield "<h2>Records</h2>"
    for name, about, fields in records(document):
        yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> <span>{_said(about)}</span></summary>'
        yield from _table(fields)
        yield "</details>"
    yield "</body></html>"


def _operation(each: Operation) -> Iterator[str]:
    first, _, rest = each.about.partition("\n")
    yield f"<details><summary><code>{each.method} {escape(each.path)}</code> <span>{_said(first)}</span></summary>"
    yield f"<p>{_said(rest)}</p><p>Scope: <code>{escape(each.scope)}</code>. Answers: {_said('; '.join(each.answers))}."
    yield f" Takes: {_said(each.body)}.</p>" if each.body else "</p>"
    yield from _table(each.parameters)
    yield "</details>"


def _table(fields: Iterable[Field]) -> Iterator[str]:
    rows = "".join(map(_row, fields))
    if rows:
        yield f"<table>{rows}</table>"


def _row(each: Field) -> str:
    cells = (f"`{each.name}`", each.kind, "required" if each.must else "", each.meaning)
    return f"<tr>{''.join(f'<td>{_said(cell)}</td>' for cell in cells)}</tr>"


def _said(text: str) -> str:
    """A text; what stands between backticks is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
