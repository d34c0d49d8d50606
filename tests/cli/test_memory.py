"""`perdure memory`: searched from any process, listed in pages, added to and forgotten through whoever owns the file.

T4.
"""

import json
from pathlib import Path

import pytest
from program import write
from runs import FAIL, WAIT, until

MEMORY = (Path(__file__).parents[2] / "examples/runs/memory.yaml").read_text()
TOOLS = ("--tools", "deeds")


def listed(place, *words):
    return json.loads(place.do("memory", *words, "--json").stdout)


def test_t4_what_a_run_taught_is_found_by_its_words(place):
    place.run(MEMORY, "-i", "place=the harbour", "-i", "learned=Ring twice")
    found = listed(place, "search", "rings at HARBOURS!")
    assert found["schema"] == "perdure.memories/1"
    assert {(each["kind"], each["text"]) for each in found["memories"]} == {
        ("lesson", "Ring twice"),
        ("outcome", "succeeded"),
    }
    lines = place.do("memory", "search", "harbour", "--kind", "lesson").stdout.splitlines()
    assert [line.split("\t")[4:] for line in lines] == [["Ring twice", "the harbour"]]
    place.run(FAIL, code=1)
    (failed,) = listed(place, "search", "no luck")["memories"]
    assert (failed["step"], failed["by"], failed["text"]) == ("bad", "run", "failed: logic: no luck")


@pytest.mark.parametrize(
    "text", ["", '"', "NOT", "a OR", "🦊", "'; DROP TABLE memories; --", "\x1b[31m", "word " * 9_000]
)
def test_any_text_is_looked_for_as_words(place, text):
    place.do("memory", "note", "near or far")
    assert place.do("memory", "search", text).stderr == ""


def test_a_list_is_newest_first_and_in_pages(place):
    for n in range(5):
        place.do("memory", "note", f"lesson {n}", "--about", "lists", "--by", "Ann")
    place.do("memory", "note", "a fact", "--kind", "fact")
    first = listed(place, "ls", "--limit", "3")
    rest = listed(place, "ls", "--before", str(first["next"]))
    assert rest["next"] is None
    texts = [each["text"] for each in [*first["memories"], *rest["memories"]]]
    assert texts == ["a fact", *(f"lesson {n}" for n in reversed(range(5)))]
    assert "add --before" in place.do("memory", "ls", "--limit", "3").stderr
    assert [each["by"] for each in listed(place, "ls", "--kind", "lesson", "--limit", "1")["memories"]] == ["Ann"]


def test_what_is_forgotten_is_gone(place):
    place.do("memory", "note", "Ring twice")
    (found,) = listed(place, "ls")["memories"]
    assert found["id"] in place.do("memory", "forget", found["id"]).stderr
    assert listed(place, "search", "ring")["memories"] == []
    assert "PRD2009" in place.do("memory", "forget", found["id"], code=3).stderr


def test_the_process_that_owns_the_journal_notes_and_forgets_for_others(place):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds)
        place.do("memory", "note", "Ring twice")
        found = until(lambda: listed(place, "search", "rings")["memories"], "the words come in a while later")
        place.do("memory", "forget", found[0]["id"])
        assert listed(place, "ls")["memories"] == []
        place.let("one")
        going.ends(0)
    assert [each["kind"] for each in listed(place, "ls")["memories"]] == ["outcome"]


def test_where_there_is_no_journal_there_is_nothing(place):
    for words in (("memory", "ls"), ("memory", "search", "a")):
        done = place.do(*words)
        assert (done.stdout, "no journal" in done.stderr) == ("", True)
    assert "PRD2009" in place.do("memory", "forget", "m_1", code=3).stderr
    assert not place.db.exists()


def test_a_file_that_remembers_nothing_yet_is_searched_too(place):
    write(place.db)
    assert listed(place, "search", "anything") == {"schema": "perdure.memories/1", "memories": [], "next": None}


def test_what_others_wrote_is_shown_and_never_sent(place):
    place.do("memory", "note", "red \x1b[31m text\nsecond line")
    assert "\x1b" not in place.do("memory", "ls").stdout
    assert len(place.do("memory", "ls").stdout.splitlines()) == 1
