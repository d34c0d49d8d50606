"""A4: who gets a piece of work: by skills, past success, load, price and priority, and by nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents import Agent
from perdure.agents.choosing import Known, choose
from perdure.ports import Wanted
from perdure.tools.failure import ToolFailure

PYTHON = Wanted(skills=["python"])


def agent(name, *skills, **more):
    return Agent(name=name, skills=skills or ("python",), **more)


def chosen(agents, wanted=PYTHON, known=None, taken=()):
    return choose(agents, wanted, known or {}, set(taken))


def test_a4_only_who_has_all_the_skills_is_chosen():
    both = agent("both", "python", "testing", price=9)
    wanted = Wanted(skills=["python", "testing"])
    assert chosen([agent("one", "python"), both, agent("other", "testing")], wanted).agent == "both"


def test_a4_a_skill_that_nobody_has_is_told_with_what_may_be_meant():
    with pytest.raises(ToolFailure, match='nobody has the skill "pyton"; did you mean "python"') as told:
        chosen([agent("one")], Wanted(skills=["pyton"]))
    assert told.value.failure.kind == "invalid"


def test_a4_skills_that_nobody_has_together_are_told():
    with pytest.raises(ToolFailure, match="nobody has all of python, testing"):
        chosen([agent("one", "python"), agent("other", "testing")], Wanted(skills=["python", "testing"]))


def test_a4_of_several_the_one_who_did_well_is_chosen():
    known = {"one": Known(good=1, bad=9), "other": Known(good=9, bad=1)}
    found = chosen([agent("one"), agent("other")], known=known)
    assert found.agent == "other"
    assert "9 of its last 10 tasks went well" in found.why


def test_a4_a_newcomer_has_an_even_chance():
    known = {"old": Known(good=1, bad=9)}
    assert chosen([agent("new"), agent("old")], known=known).agent == "new"


def test_a4_work_is_balanced():
    found = chosen([agent("one"), agent("other")], known={"one": Known(load=1)})
    assert found.agent == "other"
    assert [each["load"] for each in found.considered] == [0, 1]


def test_a4_the_cheaper_one_is_chosen():
    assert chosen([agent("dear", price=1.0), agent("cheap", price=0.1)]).agent == "cheap"


def test_a4_who_does_not_say_what_it_costs_counts_as_the_dearest():
    assert chosen([agent("a_silent"), agent("cheap", price=0.1), agent("dear", price=1.0)]).agent == "cheap"
    assert chosen([agent("a_silent"), agent("dear", price=1.0)]).considered[0]["score"] == 0.5


def test_a4_one_who_works_for_nothing_does_not_make_all_others_alike():
    agents = [agent("free", price=0, limit=1), agent("bad", price=5.0), agent("good", price=1.0)]
    known = {"free": Known(load=1), "bad": Known(load=7, bad=50), "good": Known(good=50)}
    assert chosen(agents, known=known).agent == "good"


def test_a4_what_is_important_goes_to_who_does_it_well_whatever_it_costs():
    agents = [agent("good", price=1.0), agent("cheap", price=0.1)]
    known = {"good": Known(good=98), "cheap": Known(good=50, bad=48)}
    assert chosen(agents, Wanted(skills=["python"], priority=1), known).agent == "good"
    assert chosen(agents, Wanted(skills=["python"], priority=-1), known).agent == "cheap"
    assert chosen(agents, PYTHON, known).agent == "cheap"


def test_a4_who_is_at_its_limit_is_passed_over_and_that_is_told():
    found = chosen([agent("one", limit=2, price=0.1), agent("other", price=1)], known={"one": Known(load=2)})
    assert found.agent == "other"
    wanted = Wanted(among=["one", "other"])
    found = chosen([agent("one", limit=2), agent("other")], wanted, {"one": Known(load=2)})
    assert found.why[0] == "it stands in for one"
    assert found.why[-1] == "one is not free: 2 of 2 at work"


def test_a4_where_all_are_at_work_it_is_to_be_asked_again():
    with pytest.raises(ToolFailure, match=r"all who could do it are at work: one \(1 of 1 at work\)") as told:
        chosen([agent("one", limit=1)], known={"one": Known(load=1)})
    assert told.value.failure.kind == "rate_limited"


def test_a4_a_place_is_kept_for_what_is_more_important():
    with pytest.raises(ToolFailure, match="1 more important waiting"):
        chosen([agent("one", limit=1)], known={"one": Known(claimed=1)})
    assert chosen([agent("one", limit=2)], known={"one": Known(claimed=1)}).agent == "one"


def test_a4_work_within_its_own_work_goes_on_at_the_same_seat():
    found = chosen([agent("one", limit=1)], known={"one": Known(load=1, seat="agent.one.1")}, taken=["agent.one.1"])
    assert found.seat == "agent.one.1"


def test_a4_a_seat_is_one_that_nobody_has():
    found = chosen([agent("one", limit=3)], known={"one": Known(load=1)}, taken=["agent.one.1"])
    assert found.seat == "agent.one.2"
    assert chosen([agent("one")]).seat == ""


def test_a4_who_has_tried_is_not_asked_again():
    wanted = Wanted(among=["one", "other"], without=["one"])
    assert chosen([agent("one"), agent("other")], wanted).agent == "other"
    with pytest.raises(ToolFailure, match="nobody else could do it; one, other tried"):
        chosen([agent("one"), agent("other")], Wanted(among=["one", "other"], without=["one", "other"]))


numbers = st.integers(0, 5)
standings = st.builds(Known, load=numbers, good=numbers, bad=numbers, claimed=st.integers(0, 2))
people = st.lists(
    st.builds(
        Agent,
        name=st.sampled_from("abcdef"),
        skills=st.lists(st.sampled_from(["python", "testing", "law"]), unique=True).map(tuple),
        price=st.none() | st.floats(0, 10),
        limit=st.none() | st.integers(1, 5),
    ),
    unique_by=lambda each: each.name,
    max_size=6,
)


@given(
    people,
    st.dictionaries(st.sampled_from("abcdef"), standings),
    st.lists(st.sampled_from(["python", "testing"]), unique=True),
    st.integers(-1, 1),
)
def test_a4_nobody_is_chosen_who_cannot_or_may_not_and_nobody_better_is_passed_over(agents, known, skills, priority):
    wanted = Wanted(skills=skills, priority=priority)
    able = [each for each in agents if set(skills) <= set(each.skills)]
    free = [
        each
        for each in able
        if each.limit is None or (k := known.get(each.name, Known())).load + k.claimed < each.limit
    ]
    if not free:
        with pytest.raises(ToolFailure) as told:
            choose(agents, wanted, known, set())
        assert told.value.failure.kind == ("rate_limited" if able else "invalid")
        return
    found = choose(agents, wanted, known, set())
    scores = {each["agent"]: each["score"] for each in found.considered}
    assert set(scores) == {each.name for each in able}
    assert scores[found.agent] == max(scores[each.name] for each in free)
    assert choose(agents[::-1], wanted, known, set()) == found
