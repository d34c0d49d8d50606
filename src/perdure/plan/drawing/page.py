"""A plan as one HTML page that needs nothing else: the picture to move around in, and all steps as a table."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Final

from perdure.plan.drawing.flow import Flow, Shape
from perdure.plan.drawing.svg import part, picture
from perdure.plan.measures import measure, sentence
from perdure.plan.model.document import Plan

LEGEND: Final = (
    ("act", "acts: tool, model, agent, decision"),
    ("pause", "pauses: question, wait, checkpoint, rollback"),
    ("group", "groups: serial, graph, map, sub-plan"),
    ("done", "ends with success"),
    ("fail", "ends with failure"),
    ("next", "goes on, or is needed by"),
    ("jump", "jumps on an exit"),
)
BUTTONS: Final = (("in", "+", "Larger"), ("out", "−", "Smaller"), ("real", "1:1", "Real size"), ("whole", "Fit", "All"))  # noqa: RUF001  a minus sign


def html(plan: Plan) -> str:
    """The plan as a page."""
    flow = Flow(plan)
    return "\n".join([*_head(flow), *_body(flow), "</html>"]) + "\n"


def _head(flow: Flow) -> Iterator[str]:
    styles = f"{_hash(part('page.css'))} {_hash(part('picture.css'))}"
    policy = f"default-src 'none'; style-src {styles}; script-src {_hash(part('page.js'))}; base-uri 'none'"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(flow.root.id)}</title>"
    yield f"<style>{part('page.css')}</style>\n</head>"


def _hash(text: str) -> str:
    """Names the one style or script that a browser may use; nothing that slipped into the page can run."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _body(flow: Flow) -> Iterator[str]:
    yield f"<body>\n<h1>{escape(flow.root.id)}</h1>"
    yield f'<p class="measures">{escape(sentence(measure(flow.plan)))}</p>'
    yield f'<figure class="stage">\n{picture(flow)}<div class="tools">{"".join(_buttons())}</div>\n</figure>'
    yield f'<ul class="legend">{"".join(f"""<li class="{sort}">{escape(said)}</li>""" for sort, said in LEGEND)}</ul>'
    yield '<div class="steps"><table>'
    yield "<thead><tr><th>Step</th><th>Kind</th><th>What</th><th>Exits</th></tr></thead>\n<tbody>"
    yield from map(_row, flow.shapes)
    yield f"</tbody></table></div>\n<script>{part('page.js')}</script>\n</body>"


def _buttons() -> Iterator[str]:
    for deed, sign, said in BUTTONS:
        yield f'<button type="button" data-deed="{deed}" title="{said}" aria-label="{said}">{sign}</button>'


def _row(shape: Shape) -> str:
    indent = "\u2003" * (shape.node.depth - 1)
    cells = [indent + escape(shape.id), escape(shape.kind), _what(shape), "<br>".join(map(escape, _exits(shape)))]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _what(shape: Shape) -> str:
    small = [shape.title, " · ".join(shape.badges), f"needs {', '.join(shape.needs)}" if shape.needs else ""]
    return escape(shape.label) + "".join(f"<small>{escape(text)}</small>" for text in small if text)


def _exits(shape: Shape) -> Iterator[str]:
    for exits, target in shape.ways:
        yield f"{exits} → {target}"
    if shape.family in ("done", "fail"):
        yield "ends its group"
