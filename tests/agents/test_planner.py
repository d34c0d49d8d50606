"""X2, X8, M1, M4: plans from selected tools, without a model, that are valid whatever they are made of."""

import time
from datetime import UTC, datetime

import pytest
from errand_tools import SHOP
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents.planner import NoPlan, create_execution_plan, with_lookups
from perdure.plan.reading import read_data
from perdure.plan.reading.numbered import ExecutionPlan, PlanStatus
from perdure.tools import BUILTIN, toolbox_of
from perdure.tools.builtin import HANDS

KNOWN = {each.name: each for each in (*BUILTIN, *HANDS, *SHOP.values())}
TOOLBOX = toolbox_of(KNOWN.values())


def plan(request, *names, **more):
    return create_execution_plan(request, [KNOWN[name] for name in names], **more)


def parameters(made):
    return [(step.tool, step.parameters) for step in made.steps]


def read(made):
    return read_data(made.model_dump(mode="json", exclude_defaults=True), toolbox=TOOLBOX)


def test_x2_a_plan_has_an_id_reasoning_steps_context_and_metadata():
    at = datetime(2026, 1, 1, tzinfo=UTC)
    made = plan("wait 5 seconds", "time.sleep", context={"who": "Ada"}, id="p_1", at=at)
    assert (made.id, made.status, made.created_at, made.context) == ("p_1", PlanStatus.PENDING, at, {"who": "Ada"})
    assert made.reasoning == '1. time.sleep: seconds is before "seconds".'
    assert made.metadata == {
        "planner": "tools",
        "parameters": {"1": {"seconds": {"from": "request", "how": 'before "seconds"', "at": [5, 6]}}},
    }
    assert parameters(made) == [("time.sleep", {"seconds": 5})]


def test_x2_ids_differ_with_what_a_plan_is_made_of_and_only_with_that():
    assert plan("wait 5 seconds", "time.sleep").id == plan("wait 5 seconds", "time.sleep").id
    assert len({plan(f"wait {n} seconds", "time.sleep").id for n in range(20)}) == 20


def test_x8_what_one_tool_gives_another_one_takes():
    made = plan("read notes.txt and count the words", "files.read", "text.words")
    assert parameters(made) == [
        ("files.read", {"path": "notes.txt"}),
        ("text.words", {"text": "${steps.step_1.output.text}"}),
    ]
    assert [step.depends_on for step in made.steps] == [(), (1,)]


def test_x8_what_stands_nowhere_is_asked_for_before_the_first_step():
    made = plan("set the heating after a look at the weather in Berlin", "weather.current", "heating.set", "timer.set")
    assert list(made.ask["properties"]) == ["city", "minutes"]
    assert parameters(made)[0] == ("weather.current", {"city": "${steps.ask.output.city}"})
    steps = {step.id: step for step in read(made).usable().steps}
    assert steps["ask"].form["required"] == ["city", "minutes"]
    assert (steps["step_1"].needs, steps["step_2"].needs) == (("ask",), ("step_1",))


def test_the_same_thing_is_asked_for_once_and_different_things_of_one_name_twice():
    made = plan("weather twice", "weather.current", "meteo.now")
    assert list(made.ask["properties"]) == ["city"]
    two = plan("send both", "text.words", "files.search")
    assert list(two.ask["properties"]) == ["text", "text_2"]


def test_m4_an_id_that_nobody_says_is_looked_up_first():
    request = 'Send an invoice over 5 to "Davis"'
    tools = with_lookups(request, [KNOWN["invoice.send"]], KNOWN)
    made = create_execution_plan(request, tools)
    assert parameters(made) == [
        ("customers.find", {"name": "Davis"}),
        ("invoice.send", {"customer_id": "${steps.step_1.output.customer_id}", "amount": 5}),
    ]
    assert (made.requires_lookahead, made.checkpoints, made.ask) == (True, (1,), None)


def test_m1_the_plan_says_that_it_looks_ahead_and_names_its_checkpoints():
    found = read(plan('Send an invoice over 5 to "Davis"', "invoice.send", "customers.find")).usable()
    assert (found.requires_lookahead, found.checkpoints) == (True, ("found_1",))
    assert [(step.id, step.needs) for step in found.steps] == [
        ("step_1", ()),
        ("found_1", ("step_1",)),
        ("step_2", ("step_1", "found_1")),
    ]


def test_m10_a_plan_that_looks_nothing_up_says_nothing_of_it():
    made = plan("wait 5 seconds", "time.sleep")
    assert not made.requires_lookahead
    assert "checkpoints" not in made.as_document()


def test_a_lookup_that_changes_something_or_lacks_something_is_not_added():
    assert with_lookups("list orders", [KNOWN["orders.list"]], KNOWN) == [KNOWN["orders.list"]]


def test_x8_independent_steps_run_beside_each_other_and_deeds_one_after_the_other():
    made = plan(
        'city: Berlin, 5 minutes, path: a.txt, text: "x", then path b.txt',
        "weather.current", "timer.set", "files.write", "files.read", "meteo.now", "git.tag",
    )  # fmt: skip
    assert [step.depends_on for step in made.steps] == [(), (), (1, 2), (3,), (3,), (4, 5)]


def test_what_is_known_already_is_not_asked_for():
    made = plan("the weather", "weather.current", context={"city": "Berlin", "unit": "tons"})
    assert parameters(made) == [("weather.current", {"city": "Berlin"})]
    assert made.metadata["parameters"]["1"]["city"]["from"] == "context"


def test_a_secret_is_named_and_neither_taken_from_a_request_nor_asked_for():
    made = plan('mail "hello" to ada@example.org, api key: hunter2', "mail.send")
    assert made.steps[0].parameters == {"to": "ada@example.org", "text": "hello", "api_key": "${secrets.API_KEY}"}
    assert made.ask is None


def test_what_a_request_says_never_becomes_an_expression():
    made = plan('echo "${secrets.password}"', "flow.echo")
    assert made.steps[0].parameters == {"value": "$${secrets.password}"}
    reading = read(made)
    assert reading.errors == []
    assert reading.plan.goal == 'echo "$${secrets.password}"'


def test_values_that_nothing_takes_are_told():
    made = plan("read a.txt and b.txt", "files.read")
    assert made.metadata["unused"] == ["b.txt"]
    assert "not used: b.txt" in made.reasoning


def test_values_of_another_part_of_the_request_are_not_taken():
    request = 'read it and write "x" to out.txt'
    made = create_execution_plan(
        request, [KNOWN["files.read"], KNOWN["files.write"]], spans=((0, 7), (11, len(request)))
    )
    assert parameters(made)[0] == ("files.read", {"path": "${steps.ask.output.path}"})
    assert parameters(made)[1] == ("files.write", {"path": "out.txt", "text": "x"})


@pytest.mark.parametrize("tools", [[], [KNOWN["flow.echo"]] * 1_001])
def test_no_tool_or_too_many_make_no_plan(tools):
    with pytest.raises(NoPlan) as refusal:
        create_execution_plan("nothing", tools)
    assert refusal.value.code == "PRD4201"


def test_of_two_tools_that_want_what_the_other_gives_one_is_asked_for():
    made = plan("both", "lock.open", "key.find")
    assert list(made.ask["properties"]) == ["lock"]
    assert [(step.tool, step.depends_on) for step in made.steps] == [("key.find", ()), ("lock.open", (1,))]


def test_a_long_plan_is_made_in_a_time_that_people_do_not_notice():
    began = time.process_time()
    plan("everything", *["customers.find", "invoice.send", "orders.list", "files.read", "text.words"] * 40)
    assert time.process_time() - began < 5


WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["city Berlin", "5 seconds", "notes.txt", '"Davis"', "https://a.org/b", "7", "ada@a.org", "metric"]
        ),
        st.sampled_from(["customer id: C1", "text:", "${inputs.x}", '"${', "and", "2026-02-28", "amount = 3"]),
        st.text(max_size=6),
    ),
    max_size=10,
).map(" ".join)


@given(
    WORDS,
    st.lists(st.sampled_from(sorted(KNOWN)), min_size=1, max_size=8),
    st.dictionaries(st.sampled_from(["city", "text", "path", "x"]), st.sampled_from(["${", "Berlin", 3]), max_size=2),
)
def test_x2_a_plan_is_always_valid(request, names, known):
    made = plan(request, *names, context=known)
    assert ExecutionPlan.model_validate_json(made.model_dump_json()) == made
    assert [step.step_number for step in made.steps] == list(range(1, len(names) + 1))
    assert sorted(step.tool for step in made.steps) == sorted(names)
    reading = read(made)
    assert [str(problem) for problem in reading.errors] == []
    assert reading.plan == read_data(made.as_document(), toolbox=TOOLBOX).plan
