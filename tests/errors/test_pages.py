"""Each code has a page, and each page tells the truth: what it calls wrong is refused, what it calls right is not."""

import re
from collections import Counter
from pathlib import Path

import pytest

import perdure
from perdure.errors import codes, page, title
from perdure.plan.reading import read_text

PLACEHOLDER = "PRD0000"
SOURCE = Path(perdure.__file__).parent
BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<word>\w+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(code, *match.group("language", "word", "text")) for code in codes() for match in BLOCK.finditer(page(code))]
DOCUMENTS = [block for block in BLOCKS if block[1] != "python"]
PROGRAMS = [block for block in BLOCKS if block[1] == "python"]


def named(block):
    return " ".join(filter(None, block[:3]))


def sentences(code):
    _, _, rest = page(code).partition("\n\n")
    prose, _, _ = rest.partition("\n\n```")
    return re.split(r"(?<=[.?])\s+(?=[A-Z`])", prose)


def codes_in_source():
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return {code for text in texts for code in re.findall(r"PRD[0-9]{4}", text)} - {PLACEHOLDER}


def test_every_code_has_a_page_and_every_page_a_code():
    assert set(codes()) == codes_in_source()


@pytest.mark.parametrize("code", codes())
def test_a_page_begins_with_its_code_and_a_title(code):
    first, second, *_ = page(code).splitlines()
    assert re.fullmatch(rf"# {code} · \S.*[^.\s]", first)
    assert second == ""
    assert title(code) == first.removeprefix(f"# {code} · ")


@pytest.mark.parametrize("code", codes())
def test_a_page_explains_before_it_shows_and_is_short(code):
    assert 2 <= len(sentences(code)) <= 6
    lines = page(code).splitlines()
    assert 12 <= len(lines) <= 35
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("code", codes())
def test_a_page_shows_wrong_and_right_or_a_program(code):
    shown = [(language, word) for each, language, word, _ in BLOCKS if each == code]
    documents = [[(kind, word) for word in ("wrong", "right")] for kind in ("yaml", "json")]
    assert shown in [*documents, [("python", None)]]
    assert page(code).count("```") == 2 * len(shown), "every fence belongs to a block"


def test_no_two_pages_say_the_same():
    said = [title(code) for code in codes()] + [sentence for code in codes() for sentence in sentences(code)]
    assert [sentence for sentence, count in Counter(said).items() if count > 1] == []


@pytest.mark.parametrize("block", [each for each in DOCUMENTS if each[2] == "wrong"], ids=named)
def test_what_is_wrong_has_this_problem_and_no_other(block):
    code, language, _, text = block
    problems = read_text(text, kind=language).problems
    assert {problem.code for problem in problems} == {code}, problems


@pytest.mark.parametrize("block", [each for each in DOCUMENTS if each[2] == "right"], ids=named)
def test_what_is_right_has_no_problem(block):
    _, language, _, text = block
    reading = read_text(text, kind=language)
    assert reading.problems == []
    assert reading.usable()


@pytest.mark.parametrize("block", PROGRAMS, ids=named)
def test_programs_run_as_they_stand(block, tmp_path, monkeypatch):
    code, _, _, text = block
    monkeypatch.chdir(tmp_path)
    assert code in text
    exec(compile(text, f"{code}.md", "exec"), {"__name__": code})  # noqa: S102  a page of our own


def test_names_that_are_no_codes_have_no_page():
    assert page("PRD1301").startswith("# PRD1301 ")
    assert title("PRD1301") == "Unknown target"
    for name in ("", PLACEHOLDER, "PRD9999", "../x", "../pages/PRD1301", "PRD1301.md", "prd1301"):
        assert page(name) is None
        assert title(name) == ""
