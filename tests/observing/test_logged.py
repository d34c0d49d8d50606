"""E11 X9: lines of a log, each an object of JSON."""

import json
import logging

import pytest
from runs import ASK, FAIL, HELLO, Place
from told import NAMES, golden

from perdure.cli.observing import copied_in
from perdure.core.events import EVENTS
from perdure.journal import MemoryJournal
from perdure.observing.folding import Fold
from perdure.observing.lines import line_of, written
from perdure.observing.logged import NoLog, logged
from perdure.observing.spans import trace_of


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_x9_a_run_is_told_of_from_its_plan_to_its_end(place):
    done = place.run(FAIL, code=1, PERDURE_LOG__TO="stderr")
    found = lines(done.stderr)
    run = place.shown()["id"]
    assert {each["run"] for each in found} == {run}
    assert {each["trace_id"] for each in found} == {f"{trace_of(run):032x}"}
    first, last = found[0], found[-1]
    assert (first["event"], first["planner"], len(first["plan"])) == ("run_started", "person", 64)
    assert (last["event"], last["level"], last["failure"]["kind"]) == ("run_ended", "error", "logic")
    failed = next(each for each in found if each.get("step") == "bad" and "failure" in each)
    assert (failed["level"], failed["calls"], failed["failure"]["message"]) == ("warning", "flow.fail", "no luck")
    assert {each["plan"] for each in found} == {first["plan"]}


def test_nothing_of_it_is_on_standard_output(place):
    done = place.run(HELLO, "-i", "name=Ada", "--json", PERDURE_LOG__TO="stderr")
    assert json.loads(done.stdout)["status"] == "succeeded"


def test_lines_are_added_to_a_file_that_others_cannot_read(place):
    file = place.path / "perdure.log"
    for name in ("Ada", "Grace"):
        place.run(HELLO, "-i", f"name={name}", PERDURE_LOG__TO=str(file))
    found = lines(file.read_text())
    assert [each["event"] for each in found].count("run_ended") == 2
    assert file.stat().st_mode & 0o777 == 0o600


def test_each_fact_is_told_once_over_a_rest(place):
    file = place.path / "perdure.log"
    place.run(ASK, code=4, PERDURE_LOG__TO=str(file))
    place.do("approve", "@last", PERDURE_LOG__TO=str(file))
    place.do("resume", "@last", PERDURE_LOG__TO=str(file))
    told = [each["seq"] for each in lines(file.read_text())]
    assert len(told) == len(set(told))
    assert told == sorted(told)


def test_a_file_that_cannot_be_written_is_refused_before_anything_begins(place):
    done = place.run(HELLO, "-i", "name=Ada", code=6, PERDURE_LOG__TO=str(place.path / "no" / "file"))
    assert "PRD6071" in done.stderr
    assert "Traceback" not in done.stderr


async def test_what_the_program_says_of_itself_is_in_the_same_form(tmp_path):
    file = tmp_path / "log"
    async with logged(MemoryJournal(), copied_in, str(file)):
        logging.getLogger("perdure.journal").warning("some\nwords \u2028 %s", "more")
    [line] = lines(file.read_text())
    assert (line["logger"], line["level"], line["message"]) == ("perdure.journal", "warning", "some\nwords \u2028 more")
    logging.getLogger("perdure.journal").warning("after it")
    assert len(lines(file.read_text())) == 1


async def test_a_place_where_nothing_can_be_written():
    with pytest.raises(NoLog):
        async with logged(MemoryJournal(), copied_in, "/nowhere/at/all"):
            pass


@pytest.mark.parametrize("name", NAMES)
async def test_x9_every_fact_has_a_line_that_is_json(name):
    journal, entries = await golden(name)
    fold = Fold(journal.fetch)
    for entry in entries:
        fold.take(entry.run, [entry])
        line = line_of(entry, fold.story(entry.run))
        if line is not None:
            assert "\n" not in written(line)
            assert json.loads(written(line))["event"] in EVENTS
            assert {"at", "level", "run", "seq", "trace_id"} <= line.keys()
