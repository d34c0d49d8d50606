"""E8: what the page makes of a journal is what the server says of the run."""

from pathlib import Path

import pytest
from page_folds import difference, folded, followed_in, followed_life, golden
from sequences import lived
from simulated_world import History

import perdure.engine.engine as front
from perdure.engine import forking
from perdure.testing.clock import run

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.jsonl"))


def assert_the_same(followed):
    for each, told in zip(followed, folded(followed), strict=True):
        for number, (found, expected) in enumerate(zip(told, each.expected, strict=True)):
            wrong = difference(found, expected)
            facts = [entry["type"] for entry in each.given["turns"][number]]
            assert not wrong, f"{each.given['run']}, after entry {found['entries']} ({', '.join(facts)}): {wrong}"


def test_e8_the_page_tells_of_old_journals_what_the_server_tells():
    assert_the_same([run(golden(path)) for path in GOLDEN])


@pytest.mark.campaign("the page's own fold", "I12", of="histories", times=1)
def test_e8_the_page_tells_of_any_run_what_the_server_tells(trials):
    for seed in trials(15):
        assert_the_same([followed_life(life) for life in lived(seed).runs])


def test_e8_the_page_tells_of_runs_that_crash_what_the_server_tells(monkeypatch):
    for place in (front, forking):
        monkeypatch.setattr(place, "new_id", place.new_id)
    followed = []
    for seed in range(8):
        history = History(seed, changes=bool(seed % 2), frail=True)
        run(history.pass_by())
        followed += [run(followed_in(history.disk, name)) for name in history.runs]
    assert_the_same(followed)
