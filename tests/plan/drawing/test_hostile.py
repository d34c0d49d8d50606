"""Whatever somebody writes into a plan stays text in every picture of it."""

import re
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from perdure.plan.drawing.mermaid import mermaid
from perdure.plan.drawing.page import html
from perdure.plan.drawing.svg import svg
from perdure.plan.drawing.tree import plain_tree, tree
from perdure.plan.measures import measure, sentence
from perdure.plan.model.document import Plan

TEXTS = (
    "<script>alert(1)</script>",
    "</title></svg><img src=x onerror=alert(1)>",
    "</style><style>*{display:none}",
    '"]; click n1 call alert() "',
    "]]> <!-- --> <![CDATA[ <?xml ?>",
    "&lt;b&gt; &#x3c;script&#x3e;",
    "\x1b[31mred\x1b]0;title\x07\x9b2J\r\x08",
    "abc\u202efdp.exe\u2066\u200b\ufeff\U000e0041",
    "line\nend\n  n1 --> n2\n%% comment\nclassDef x fill:red",
    "`md` **b** $$x$$ #quot; {{y}} |z| fa:fa-ban",
    "[bold red]x[/] [link=file:///etc/passwd]y[/link]",
    "\ufffe\uffff\x00",
)


def plan_with(text):
    """A plan with the text in every field that takes any text."""
    steps = [
        {"id": "a", "tool": "x.y", "title": text, "when": text, "on": {"failure": "c"}},
        {"id": "b", "model": "m", "prompt": text, "title": text},
        {"id": "c", "ask": text, "to": [text], "title": text},
        {"id": "d", "decide": text, "choices": ["a", "e"], "title": text},
        {"id": "e", "wait": {"until": "${inputs.when}" + text}, "title": text},
        {"id": "f", "wait": {"for": "${" + text}, "title": text},
        {"id": "g", "parallel": [{"id": "g1", "agent": "x", "task": text, "title": text}], "title": text, "when": text},
        {"id": "h", "map": "${" + text + "}", "steps": [{"id": "h1", "agent": "x", "title": text}], "title": text},
        {"id": "i", "plan": {"goal": text, "name": text, "steps": [{"id": "i1", "agent": "x", "title": text}]}},
        {"id": "j", "fail": text, "title": text},
    ]
    plan = Plan.model_validate({"goal": text, "name": text, "steps": steps})
    half = text + "\ud800"  # no document holds half of a Unicode pair or such an id; a plan made in Python might
    model = plan.steps[1].model_copy(update={"model": half, "id": half, "title": half})
    return plan.model_copy(update={"steps": (*plan.steps, model)})


HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"
)


@pytest.fixture(params=TEXTS, ids=range(len(TEXTS)))
def plan(request):
    return plan_with(request.param)


@pytest.mark.parametrize("draw", [svg, html, mermaid, plain_tree, lambda plan: sentence(measure(plan))])
def test_no_hidden_character_gets_through(plan, draw):
    assert HIDDEN.findall(draw(plan)) == []


def test_the_picture_has_only_the_elements_of_a_picture(plan):
    allowed = {"svg", "title", "desc", "style", "defs", "symbol", "marker", "path", "rect", "g", "use", "text", "tspan"}
    root = ET.fromstring(svg(plan))  # noqa: S314  our own output
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= allowed
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert len([*root.iter("{http://www.w3.org/2000/svg}style")]) == 1


def test_the_page_has_only_its_own_script_and_styles(plan):
    text = html(plan)
    assert [text.count(f"<{tag}") for tag in ("script", "style", "svg", "h1", "table", "img")] == [1, 2, 1, 1, 1, 0]
    assert re.findall(r"<[a-z][^>]*\son[a-z]+\s*=", text) == []
    assert "<!--" not in text


def test_mermaid_has_only_the_lines_we_write(plan):
    line = re.compile(
        r"flowchart TD| +end| +direction TB"
        r"| +(?:subgraph )?[ne]\d+(?:\[\(?|\[\[|\[/|\(\(?|\(\[|\{\{?|>)"
        r'"[^"`$%;|\[\]{}]*(?:#\d+;[^"`$%;|\[\]{}]*)*"[\])}/]+'
        r'| +n\d+ (?:-->|-\.->)(?:\|"[^"|]*"\|)? [ne]\d+'
        r"| +classDef \w+ stroke:#[0-9a-f]{6}| +class [n\d,]+ \w+"
    )
    strange = [each for each in mermaid(plan).splitlines() if not line.fullmatch(each)]
    assert strange == []
    assert not re.search(r"<(?!br/>)", mermaid(plan))


def test_the_tree_has_one_line_for_each_step_and_no_styles_of_others(plan):
    console = Console(file=StringIO(), width=100, color_system="standard", force_terminal=True)
    console.print(tree(plan))
    codes = set(re.findall(r"\x1b\[([\d;]*)m", console.file.getvalue()))
    ours = {"0", "1", "2", "31", "32", "33", "34", "35", "36"}
    assert {part for code in codes for part in code.split(";")} <= ours
    assert HIDDEN.findall(re.sub(r"\x1b\[[\d;]*m", "", console.file.getvalue())) == []
    assert len(plain_tree(plan).splitlines()) == 15
