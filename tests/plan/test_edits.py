"""E1, E12: edits are taken whole or refused whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.plan import Plan
from perdure.plan.checks import check
from perdure.plan.diff import diff
from perdure.plan.edits import EditError, read_edits, revise
from perdure.plan.index import Index


def base():
    return Plan.model_validate(
        {
            "steps": [
                {"id": "a", "tool": "x.y"},
                {"id": "g", "steps": [{"id": "b", "tool": "x.y"}, {"id": "c", "tool": "x.y"}]},
                {"id": "p", "plan": {"steps": [{"id": "q", "tool": "x.y"}]}},
                {"id": "m", "map": [1], "steps": [{"id": "r", "tool": "x.y"}]},
            ]
        }
    )


def edits(*raw):
    return read_edits(raw)


def ids(plan):
    return [node.id for node in Index(plan).nodes]


def new(name="n", **fields):
    return {"id": name, "tool": "x.y", **fields}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"insert": new(), "after": "a"}, "a n g b c p q m r"),
        ({"insert": new(), "before": "a"}, "n a g b c p q m r"),
        ({"insert": new(), "after": "b"}, "a g b n c p q m r"),
        ({"insert": new(), "into": "g"}, "a g b c n p q m r"),
        ({"insert": new(), "into": ""}, "a g b c p q m r n"),
        ({"insert": new(), "into": "p"}, "a g b c p q n m r"),
        ({"insert": new(), "into": "m"}, "a g b c p q m r n"),
        ({"insert": {"id": "h", "parallel": [new("n1"), new("n2")]}, "after": "q"}, "a g b c p q h n1 n2 m r"),
        ({"replace": "b", "step": new("b2")}, "a g b2 c p q m r"),
        ({"replace": "g", "step": new("g")}, "a g p q m r"),
        ({"remove": "g"}, "a p q m r"),
        ({"remove": "c"}, "a g b p q m r"),
    ],
)
def test_one_edit(raw, expected):
    before = base()
    revised = revise(before, edits(raw), base=before.hash)
    assert ids(revised) == expected.split()
    assert before == base()
    assert Plan.model_validate(revised.canonical()) == revised


def test_many_edits_build_on_each_other():
    revised = revise(
        base(),
        edits(
            {"insert": {"id": "h", "steps": [new("h1")]}, "after": "a"},
            {"insert": new("h2"), "after": "h1"},
            {"remove": "h1"},
            {"replace": "b", "step": {"id": "b", "steps": [new("b1")]}},
            {"insert": new("b2"), "into": "b"},
        ),
    )
    assert ids(revised) == "a h h2 g b b1 b2 c p q m r".split()


def codes(plan, *raw, **options):
    with pytest.raises(EditError) as refusal:
        revise(plan, edits(*raw), **options)
    assert all(problem.help for problem in refusal.value.problems)
    return [problem.code for problem in refusal.value.problems]


def test_refusals_name_every_reason():
    assert codes(base(), {"remove": "zz"}, {"insert": new(), "into": "a"}, {"insert": new("b"), "after": "a"}) == [
        "PRD1502",
        "PRD1503",
        "PRD1107",
    ]
    assert codes(base(), {"remove": "a"}, base="sha256-jcs-v1:other") == ["PRD1501"]
    assert codes(base(), {"insert": new(on={"failure": "nowhere"}), "after": "a"}) == ["PRD1301"]
    assert codes(base(), {"insert": {"id": "n", "parallel": [new("c")]}, "after": "a"}) == ["PRD1107"]


def test_a_group_is_removed_with_what_was_put_into_it():
    taken = edits({"insert": new("n"), "into": "g"}, {"remove": "g"}, {"insert": new("n"), "after": "a"})
    assert ids(revise(base(), taken)) == "a n p q m r".split()
    assert codes(base(), {"insert": new("n"), "into": "g"}, {"remove": "g"}, {"insert": new("k"), "after": "n"}) == [
        "PRD1502"
    ]
    deep = edits(
        {"insert": {"id": "h", "steps": [new("h1")]}, "into": "g"}, {"insert": new("n"), "into": "h"}, {"remove": "g"}
    )
    assert ids(revise(base(), deep)) == "a p q m r".split()


def test_a_revised_plan_has_its_own_hash():
    before = base()
    assert before.hash
    revised = revise(before, edits({"remove": "a"}))
    assert revised.hash == Plan.model_validate(revised.canonical()).hash != before.hash


def test_nothing_is_left_empty():
    assert codes(base(), {"remove": "q"}) == ["PRD1504"]
    assert codes(base(), {"remove": "r"}) == ["PRD1504"]


def test_removing_what_others_refer_to_is_refused():
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "with": {"v": "${steps.a.output}"}}]}
    )
    assert codes(plan, {"remove": "a"}) == ["PRD1202"]


@pytest.mark.parametrize(
    "raw", [{"insert": new()}, {"insert": new(), "after": "a", "into": "g"}, {"move": "a"}, {"remove": "a", "x": 1}]
)
def test_edits_are_checked_for_form(raw):
    with pytest.raises(EditError) as refusal:
        revise(base(), [raw])
    assert [problem.code for problem in refusal.value.problems] == ["PRD1505"]


def test_mistakes_in_a_new_step_are_told_as_in_a_plan():
    raw = [{"insert": {"id": "a-b", "tol": "x"}, "after": "a"}, {"replace": "b", "step": {"id": "b", "tool": "xy"}}]
    with pytest.raises(EditError) as refusal:
        revise(base(), raw)
    assert [(problem.code, problem.path) for problem in refusal.value.problems] == [
        ("PRD1104", (0, "insert")),
        ("PRD1103", (1, "step", "tool")),
    ]


def test_plain_data_will_do_as_an_edit():
    assert ids(revise(base(), [{"remove": "g"}])) == "a p q m r".split()


NAMES = st.sampled_from(["a", "g", "b", "c", "p", "q", "m", "r", "n0", "n1", "n2", "zz"])
STEP = st.builds(
    lambda name, grouped: {"id": name, "steps": [new(f"{name}x")]} if grouped else new(name),
    st.sampled_from(["n0", "n1", "n2", "b"]),
    st.booleans(),
)
RAW = st.one_of(
    st.builds(
        lambda step, word, name: {"insert": step, word: name}, STEP, st.sampled_from(["after", "before", "into"]), NAMES
    ),
    st.builds(lambda name, step: {"replace": name, "step": step}, NAMES, STEP),
    st.builds(lambda name: {"remove": name}, NAMES),
)


@given(st.lists(RAW, min_size=1, max_size=5))
def test_taken_whole_or_refused_whole(raw):
    before = base()
    try:
        revised = revise(before, edits(*raw))
    except EditError:
        assert before == base()
        return
    assert not [problem for problem in check(revised) if problem.severity == "error"]
    assert len(set(ids(revised))) == len(ids(revised))
    assert Plan.model_validate(revised.canonical()) == revised
    assert bool(diff(before, revised)) == (revised != before)
