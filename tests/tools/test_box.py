"""Tools by name, and from modules somebody names."""

import sys

import pytest

from perdure import check
from perdure.plan import Plan
from perdure.tools import BUILTIN, load_tools, tool, toolbox_of
from perdure.tools.errors import Duplicate, NotLoaded

MODULE = """
from perdure.tools import tool

@tool(name="shop.buy")
def buy(what: str) -> str:
    return what

@tool
def sell() -> None: pass

several = (buy, sell)
nothing = []
class Shelf:
    inner = [sell]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_shop.py").write_text(MODULE)
    (tmp_path / "broken_shop.py").write_text("def :")
    (tmp_path / "leaving_shop.py").write_text("raise SystemExit('bye')")
    yield
    for name in ("my_shop", "broken_shop", "leaving_shop"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("my_shop", ["shop.buy", "my_shop.sell"]),
        ("my_shop:buy", ["shop.buy"]),
        ("my_shop:several", ["shop.buy", "my_shop.sell"]),
        ("my_shop:Shelf.inner", ["my_shop.sell"]),
    ],
)
def test_tools_are_found(address, names):
    assert [each.name for each in load_tools(address)] == names


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("missing_shop", "ModuleNotFoundError"),
        ("broken_shop", "SyntaxError"),
        ("leaving_shop", "bye"),
        ("my_shop:bye", 'there is no "bye"'),
        ("my_shop:nothing", "no tools"),
        ("my_shop:MODULE", "MODULE"),
        ("json", "no tools"),
        ("", "ValueError"),
        ("..x:y", "TypeError"),
        ("./my_shop.py", "is a file, not a module"),
        ("lib/my_shop:TOOLS", "is a file, not a module"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(address, word):
    with pytest.raises(NotLoaded) as caught:
        load_tools(address)
    assert word in caught.value.message
    assert caught.value.code == "PRD5005"
    assert caught.value.help


def test_a_plan_is_checked_against_tools():
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "text.words", "with": {"txt": "x"}}, {"id": "b", "tool": "text.wrods"}]}
    )
    problems = check(plan, toolbox_of(BUILTIN))
    assert [problem.code for problem in problems] == ["PRD1403", "PRD1403", "PRD1401"]
    assert check(Plan.model_validate({"steps": [{"id": "a", "tool": "text.words", "with": {"text": "x"}}]}), toolbox_of(BUILTIN)) == []  # fmt: skip


def test_two_tools_of_one_name_are_refused_and_the_same_twice_is_one():
    one, other = tool(name="a.b")(lambda: 1), tool(name="a.b")(lambda: 2)
    assert list(toolbox_of([one, one]).tools) == ["a.b"]
    with pytest.raises(Duplicate, match=r"a\.b"):
        toolbox_of([one, other])
