"""E12: the steps of a plan become steps of an agent, and what they name is what it was."""

from perdure.agents.strategies.adopting import adopted


def test_needs_and_references_are_by_the_new_names():
    steps = [
        {"id": "a", "tool": "x.y", "with": {"n": 1}, "needs": []},
        {
            "id": "ab",
            "tool": "x.y",
            "with": {"t": "${steps.a.output} and ${steps.ab.visits > steps.a.visits}"},
            "needs": ["a"],
        },
        {"id": "c", "ask": 'Is ${steps.ab.output["steps.a"]} right?', "needs": ["ab", "a"]},
    ]
    made, names = adopted(steps, 4)
    assert names == {"a": "s5", "ab": "s6", "c": "s7"}
    assert [each["needs"] for each in made] == [[], ["s5"], ["s6", "s5"]]
    assert made[1]["with"]["t"] == "${steps.s5.output} and ${steps.s6.visits > steps.s5.visits}"
    assert made[2]["ask"] == 'Is ${steps.s6.output["steps.a"]} right?'
    assert all("id" not in each for each in made)


def test_what_is_no_expression_stays_as_it_is():
    text = "steps.a.output costs $5, and $${steps.a.output} is a text; ${ this is broken"
    [made], _ = adopted([{"id": "a", "tool": "x.y", "with": {"t": [text, {"u": "steps.a"}], "n": None}}], 0)
    assert made["with"] == {"t": [text, {"u": "steps.a"}], "n": None}


def test_a_new_name_that_is_an_old_one_too_is_not_renamed_again():
    steps = [{"id": "s1", "tool": "x.y"}, {"id": "s2", "tool": "x.y"}]
    told = {"id": "c", "tool": "x.y", "with": {"t": "${steps.s1.output} and ${steps.s2.output}, $${steps.s1.output}"}}
    made, _ = adopted([*steps, told], 1)
    assert made[2]["with"]["t"] == "${steps.s2.output} and ${steps.s3.output}, $${steps.s1.output}"
