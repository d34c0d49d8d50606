import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from perdure.plan.drawing.page import html
from perdure.plan.measures import measure, sentence
from perdure.plan.model.document import Plan

PLAN = Plan.model_validate(
    {
        "goal": "Ship <it>",
        "steps": [
            {"id": "fetch", "tool": "http.get", "retry": {"attempts": 5}, "title": "Get the notes"},
            {"id": "parts", "parallel": [{"id": "a", "agent": "code"}, {"id": "b", "agent": "code"}]},
            {"id": "tests", "tool": "shell.run", "max_visits": 3, "on": {"failure": "fetch"}},
            {"id": "end", "done": True},
        ],
    }
)
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Collects texts by element and checks that what is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.attributes = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [text for where, text in self.texts if where == tag]


def test_it_is_one_sound_page():
    page = Page(html(PLAN))
    assert page.open == []
    assert page.all("h1") == ["Ship <it>"]
    assert page.all("p") == [sentence(measure(PLAN))]


def test_every_step_is_in_the_table():
    cells = Page(html(PLAN)).all("td")
    assert [cell.strip() for cell in cells if cell.strip() in {"fetch", "parts", "a", "b", "tests", "end"}] == [
        "fetch", "parts", "a", "b", "tests", "end",
    ]  # fmt: skip
    assert "failure → fetch" in cells
    assert "ends its group" in cells


def test_only_its_own_styles_and_script_may_be_used():
    text = html(PLAN)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, tag, count in (("style-src", "style", 2), ("script-src", "script", 1)):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes = {f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in found}
        assert len(found) == count
        assert set(rules[rule].split()) == hashes


def test_it_needs_nothing_from_elsewhere():
    page = Page(html(PLAN))
    assert not [each for each in page.attributes if each[1] == "style" or each[1].startswith("on")]
    assert not [each for each in page.attributes if each[1] in ("src", "href") and not each[2].startswith("#perdure-")]


def test_the_same_plan_gives_the_same_bytes():
    assert html(PLAN) == html(Plan.model_validate(PLAN.canonical()))
