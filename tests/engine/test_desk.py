"""A4: who waits for whom, when all are at work."""

from perdure.engine.desk import Waiting, stuck_in


def at(step):
    return ("r", step, 1)


def waits(*agents):
    return Waiting(0, frozenset(agents))


def held(*steps):
    return frozenset(map(at, steps))


def test_a4_two_that_wait_for_each_other_are_stuck():
    waiting = {at("x"): waits("b"), at("y"): waits("a")}
    assert stuck_in(waiting, {"a": [held("x")], "b": [held("y")]}) == {at("x"), at("y")}


def test_a4_who_waits_for_somebody_at_work_is_not():
    waiting = {at("x"): waits("b"), at("y"): waits("a")}
    assert stuck_in(waiting, {"a": [held("x", "z")], "b": [held("y")]}) == set()


def test_a4_one_seat_that_may_become_free_is_enough():
    waiting = {at("x"): waits("b"), at("y"): waits("a", "c")}
    assert stuck_in(waiting, {"a": [held("x")], "b": [held("y")], "c": [held("z")]}) == set()
    assert stuck_in(waiting, {"a": [held("x")], "b": [held("y"), held("z")]}) == set()


def test_a4_who_waits_behind_a_circle_is_stuck_too():
    waiting = {at("x"): waits("b"), at("y"): waits("a"), at("v"): waits("a")}
    assert stuck_in(waiting, {"a": [held("x")], "b": [held("y")]}) == {at("x"), at("y"), at("v")}
