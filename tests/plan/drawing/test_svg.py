import re
from xml.etree import ElementTree as ET

from perdure.plan.drawing.svg import svg
from perdure.plan.model.document import Plan

SVG = "{http://www.w3.org/2000/svg}"
PLAN = Plan.model_validate(
    {
        "goal": "Ship <it> & more",
        "steps": [
            {"id": "fetch", "tool": "http.get", "retry": {"attempts": 5}, "title": "x" * 200},
            {"id": "each", "map": "${inputs.files}", "steps": [{"id": "read", "tool": "files.read"}]},
            {
                "id": "graph",
                "mode": "graph",
                "steps": [{"id": "a", "agent": "code"}, {"id": "b", "agent": "code", "needs": ["a"]}],
            },
            {"id": "tests", "tool": "shell.run", "max_visits": 3, "on": {"failure": "fetch", "cancelled": "fail"}},
            {"id": "end", "done": True},
        ],
    }
)


def parsed(plan=PLAN):
    return ET.fromstring(svg(plan))  # noqa: S314  our own output


def test_it_is_well_formed_and_says_what_it_is():
    root = parsed()
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Ship <it> & more"
    assert root.find(f"{SVG}desc").text == "A plan of 8 steps: fetch, each, graph, tests, end."
    assert root.get("aria-labelledby").split() == [root.find(f"{SVG}{name}").get("id") for name in ("title", "desc")]


def test_every_step_is_there_with_its_icon_and_a_tooltip():
    root = parsed()
    groups = root.findall(f"{SVG}g")
    assert [group.find(f"{SVG}text/{SVG}tspan").text for group in groups] == [
        "fetch", "each", "read", "graph", "a", "b", "tests", "end",
    ]  # fmt: skip
    symbols = {f"#{symbol.get('id')}" for symbol in root.iter(f"{SVG}symbol")}
    assert all(group.find(f"{SVG}use").get("href") in symbols for group in groups)
    assert groups[0].find(f"{SVG}title").text == "fetch (tool)\nhttp.get\n" + "x" * 200 + "\nretry 5"


def test_lines_have_the_style_of_their_sort():
    paths = [path for path in parsed().iter(f"{SVG}path") if (path.get("class") or "").startswith("line")]
    assert sorted(path.get("class") for path in paths) == ["line jump", "line needs", *["line next"] * 4]
    assert all(path.get("marker-end") for path in paths)
    assert (
        next(path.find(f"{SVG}title").text for path in paths if "jump" in path.get("class")) == "tests: failure → fetch"
    )


def test_ends_are_badges():
    texts = [text.text for text in parsed().iter(f"{SVG}text")]
    assert "cancelled → fail" in texts


def test_it_needs_nothing_from_elsewhere():
    text = svg(PLAN)
    assert re.findall(r"""(?:href|src|url)\s*[=(]\s*["']?([^#"')][^"')]*)""", text) == []
    assert re.findall(r"https?://[^\s\"<]+", text) == ["http://www.w3.org/2000/svg"]
    assert "prefers-color-scheme: dark" in text
    assert " style=" not in text


def test_every_kind_has_an_icon_and_a_style():
    kinds = [
        {"id": "s1", "tool": "a.b"},
        {"id": "s2", "model": "weak", "prompt": "x"},
        {"id": "s3", "agent": "x"},
        {"id": "s4", "decide": "x", "choices": ["y"]},
        {"id": "s5", "ask": "?"},
        {"id": "s6", "wait": "1s"},
        {"id": "s7", "checkpoint": True},
        {"id": "s8", "rollback": "s7"},
        {"id": "s9", "steps": []},
        {"id": "s10", "map": [], "steps": [{"id": "s11", "tool": "a.b"}]},
        {"id": "s12", "plan": "x"},
        {"id": "s13", "fail": True},
        {"id": "s14", "done": True},
    ]
    root = parsed(Plan.model_validate({"steps": kinds}))
    symbols = {f"#{symbol.get('id')}" for symbol in root.iter(f"{SVG}symbol")}
    used = [use.get("href") for use in root.iter(f"{SVG}use")]
    assert len(used) == 14
    assert set(used) <= symbols
    style = root.find(f"{SVG}style").text
    assert all(f".perdure .{group.get('class')} .icon" in style for group in root.findall(f"{SVG}g"))


def test_the_same_plan_gives_the_same_bytes():
    assert svg(PLAN) == svg(Plan.model_validate(PLAN.canonical()))
