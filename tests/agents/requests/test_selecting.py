"""X4: tools are selected for a request by search, one for each part of it, and what no tool fits is said."""

import pytest
from errand_tools import SHOP

from perdure import tool
from perdure.agents.requests.selecting import Catalogue, select
from perdure.tools import BUILTIN
from perdure.tools.builtin import HANDS

KNOWN = {each.name: each for each in (*BUILTIN, *HANDS)}
CATALOGUE = Catalogue(KNOWN)


def names(request):
    return [each.name for each in CATALOGUE.select(request).tools]


@pytest.mark.parametrize(
    ("request_", "tools"),
    [
        ("read notes.txt and count the words", ["files.read", "text.words"]),
        ("fetch https://example.com/a", ["http.get"]),
        ("GET https://example.com/a", ["http.get"]),
        ("wait 5 seconds, then show the git status", ["time.sleep", "git.status"]),
        ('search for "TODO" in src/', ["files.search"]),
        ("list the files in docs/", ["files.list"]),
        ('run the command "pytest -q"', ["shell.run"]),
        ('use shell.run for "ls"', ["shell.run"]),
        ("read a.txt, then read b.txt", ["files.read", "files.read"]),
        ("read a.txt and b.txt", ["files.read"]),
        ('write "hello" to notes.txt and commit with message "Say hello"', ["files.write", "git.commit"]),
    ],
)
def test_x4_each_part_of_a_request_finds_its_tool_in_order(request_, tools):
    assert names(request_) == tools


@pytest.mark.parametrize(
    "request_", ["bake a cake", "what is the weather in Berlin", "notes.txt", "undo the last commit", ""]
)
def test_x4_a_request_that_no_tool_fits_selects_none(request_):
    assert names(request_) == []


def test_what_no_tool_fits_is_said():
    found = CATALOGUE.select("read notes.txt and summarise it")
    assert ([each.name for each in found.tools], found.unmatched) == (["files.read"], ("summarise it",))


def test_a_value_alone_never_selects_a_tool():
    assert names("save it as data.json") == []


def test_two_tools_that_fit_alike_are_both_told_and_none_is_taken():
    found = CATALOGUE.select('run "pytest -q"')
    assert found.choices == ()
    assert found.unmatched == ('run "pytest -q" (is it python.run or shell.run?)',)


def test_a_choice_tells_its_reasons_and_its_place():
    (choice,) = CATALOGUE.select("wait 5 seconds").choices
    assert choice.span == (0, 14)
    assert choice.why == '"wait" in its summary, "seconds" in its parameters'


def test_skills_are_searched_too():
    assert [each.name for each in select("the weather of the city Berlin", {"meteo.now": SHOP["meteo.now"]}).tools] == [
        "meteo.now"
    ]


def test_the_order_of_tools_makes_no_difference():
    backwards = Catalogue(dict(reversed(KNOWN.items())))
    request = "read notes.txt, count the words and list the files in docs/"
    assert backwards.select(request) == CATALOGUE.select(request)


def test_quotes_and_operators_of_the_index_are_only_words():
    assert select('"NEAR" OR * NOT (name: "x" AND', KNOWN).choices == ()


def test_a_name_with_capitals_is_found_by_its_words():
    @tool(name="crm.lookUpPerson", repeat="safe")
    def person(name: str) -> str:
        """Whoever it is."""
        return name

    assert select('look up person "Ada"', {person.name: person}).tools == (person,)


def test_tools_that_nobody_asks_for_have_no_schemas():
    @tool(name="far.away", repeat="safe")
    def far(text: str) -> str:
        """Something that has nothing to do with it."""
        return text

    assert [each.name for each in select("read notes.txt", {**KNOWN, far.name: far}).tools] == ["files.read"]
    assert "model" not in vars(far.signature)
