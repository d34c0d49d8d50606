"""E5: puzzles from seeds. With the same calls of a model a search solves more than somebody who goes step by step."""

import pytest
from puzzles import PUZZLES, play, propose


@pytest.mark.parametrize("kind", PUZZLES)
def test_a_puzzle_is_the_same_for_the_same_seed(kind):
    one, other = PUZZLES[kind](5), PUZZLES[kind](5)
    assert one.start == other.start != PUZZLES[kind](6).start or kind == "maze"
    assert propose(one, one.start, "now", 3) == propose(other, other.start, "now", 3)
    assert not one.is_solved(one.start)


@pytest.mark.parametrize("kind", PUZZLES)
def test_e5_a_search_solves_more_than_react_with_the_same_calls(kind):
    solved = {
        way: sum(play(way, PUZZLES[kind](seed), 12)[0] for seed in range(8)) for way in ("react", "tree, together")
    }
    assert solved["tree, together"] > solved["react"]


@pytest.mark.parametrize("way", ["single", "sample", "react", "tree", "tree, together"])
def test_e21_nobody_asks_more_often_than_allowed(way):
    assert all(play(way, PUZZLES["broken plan"](seed), 7)[1] <= 7 for seed in range(4))
