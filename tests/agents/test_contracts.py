"""E12, A1: plans from contracts alone. What is wanted is reached, at the least cost, in any order that the plan allows."""

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from contracts_by_hand import sliding
from contracts_by_lot import blocks, pipeline

from perdure import PlanError, check, run_sync, tool
from perdure.agents.contracts import (
    ContractsError,
    NoPlan,
    TooManyWays,
    contracts_of,
    load_contracts,
    plan_from_contracts,
    read_contracts,
)

ROOT = Path(__file__).parents[2]
RELEASE = """
goal: Ship the release
given: [written]
wanted: [shipped, told]
actions:
  build.compile: {requires: [written], effects: [built]}
  build.test: {requires: [built], effects: [tested]}
  build.document: {requires: [written], effects: [documented]}
  build.sign: {requires: [built], effects: [signed]}
  build.ship: {requires: [tested, signed], effects: [shipped]}
  mail.tell: {requires: [shipped, documented], effects: [told]}
  mail.joke: {effects: [laughed]}
"""


def planned(text, *tools, **more):
    return plan_from_contracts(read_contracts(text), tools or None, **more)


def needs(plan):
    return {step.id: set(step.needs) for step in plan.steps}


# ------------------------------------------------------------------------------- the plan


def test_e12_steps_wait_for_what_they_require_and_for_nothing_else():
    found = planned(RELEASE)
    assert needs(found.plan) == {
        "build_compile": set(),
        "build_test": {"build_compile"},
        "build_sign": {"build_compile"},
        "build_document": set(),
        "build_ship": {"build_test", "build_sign"},
        "mail_tell": {"build_ship", "build_document"},
    }
    assert (found.plan.goal, found.plan.mode, found.cost, found.proven) == ("Ship the release", "graph", 6, True)


def test_e1_the_plan_passes_the_checks_and_its_steps_say_what_they_change():
    plan = planned(RELEASE).usable()
    assert check(plan) == []
    assert {step.id: step.effects for step in plan.steps}["build_ship"] == ("shipped",)


def test_what_is_not_wanted_is_not_done():
    assert "mail_joke" not in needs(planned(RELEASE).plan)


def test_the_facts_along_the_way_are_told():
    stages = planned(RELEASE).stages
    assert stages[0].action == "build.compile"
    assert set(stages[-1].facts) == {"written", "built", "tested", "signed", "documented", "shipped", "told"}


def test_whoever_would_spoil_what_another_step_requires_waits_for_it():
    plan = planned("""
given: [clean]
wanted: [tested, painted]
actions:
  shop.paint: {effects: [painted, not clean]}
  shop.test: {requires: [clean], effects: [tested]}
""").usable()
    assert needs(plan) == {"shop_test": set(), "shop_paint": {"shop_test"}}


def test_what_must_not_hold_is_made_false_first():
    plan = planned("""
given: [locked]
wanted: [inside, locked]
actions:
  door.open: {requires: [locked], effects: [not locked]}
  door.enter: {requires: [not locked], effects: [inside]}
  door.close: {requires: [not locked], effects: [locked]}
""").usable()
    assert needs(plan) == {"door_open": set(), "door_enter": {"door_open"}, "door_close": {"door_enter"}}


def test_the_cheapest_plan_is_taken_and_of_those_the_shortest():
    text = """
wanted: [done]
actions:
  a.dear: {effects: [done], cost: 5}
  b.first: {effects: [half], cost: 2.4}
  b.second: {requires: [half], effects: [done], cost: 2.5}
  c.first: {effects: [third]}
  c.second: {requires: [third], effects: [two_thirds], cost: 2}
  c.third: {requires: [two_thirds], effects: [done], cost: 1.9}
"""
    found = planned(text)
    assert (list(needs(found.plan)), found.cost, found.at_least) == (["b_first", "b_second"], 4.9, 4.9)
    assert list(needs(planned(text.replace("cost: 5", "cost: 4.9")).plan)) == ["a_dear"]


def test_steps_for_free_are_still_not_wasted():
    found = planned("""
wanted: [b]
actions:
  x.one: {effects: [a], cost: 0}
  x.two: {requires: [a], effects: [b], cost: 0}
  x.three: {effects: [b], cost: 0}
""")
    assert (list(needs(found.plan)), found.cost) == (["x_three"], 0)


MOVING = """
objects: {truck: [red, blue], place: [depot, shop, home]}
given: ["at(red, depot)", "at(blue, home)", "road(depot, shop)", "road(home, shop)"]
wanted: ["at(red, shop)", "at(blue, shop)"]
actions:
  drive:
    title: Drive ?truck to ?to
    requires: ["at(?truck, ?from:place)", "road(?from, ?to:place)"]
    effects: ["at(?truck, ?to)", "not at(?truck, ?from)"]
    tool: fleet.drive
    with: {who: "?truck", via: ["?from", "?to"], note: "what is ?this"}
    estimate: {seconds: 60}
"""


def test_objects_stand_wherever_an_action_names_its_variables():
    plan = planned(MOVING).usable()
    step = next(each for each in plan.steps if each.id == "drive_red_depot_shop")
    assert (step.title, step.tool) == ("Drive red to shop", "fleet.drive")
    assert step.with_ == {"who": "red", "via": ["depot", "shop"], "note": "what is ?this"}
    assert step.effects == ("at(red, shop)", "not at(red, depot)")
    assert step.estimate.seconds == 60
    assert all(each.needs == () for each in plan.steps)


def test_ids_are_made_of_names_and_stay_unique():
    plan = planned("""
objects: {version: [1.0-rc, 1_0_rc]}
given: [next]
wanted: ["made(1.0-rc)", "made(1_0_rc)", followed]
actions:
  make: {effects: [made(?version)], tool: a.make}
  next: {requires: [next], effects: [followed], tool: a.next}
""").usable()
    assert sorted(step.id for step in plan.steps) == ["make_1_0_rc", "make_1_0_rc_2", "next_2"]


def test_an_argument_can_be_what_another_step_gave():
    plan = planned("""
objects: {page: [news, weather]}
wanted: [summed(news)]
actions:
  web.get: {effects: [fetched(?page)], with: {name: "?page"}}
  text.sum: {requires: [fetched(?page)], effects: [summed(?page)], takes: {text: fetched(?page)}, with: {words: 9}}
""").usable()
    assert plan.steps[1].with_ == {"words": 9, "text": "${steps.web_get_news.output}"}


def test_what_was_so_from_the_start_is_taken_from_the_arguments():
    plan = planned("""
given: [fetched]
wanted: [summed]
actions:
  text.sum: {requires: [fetched], effects: [summed], takes: {text: fetched}, with: {text: "${inputs.text}"}}
inputs: {text: {type: string}}
""").usable()
    assert plan.steps[0].with_ == {"text": "${inputs.text}"}


def test_what_was_so_from_the_start_and_is_said_nowhere_is_refused():
    with pytest.raises(ContractsError, match="was so from the start") as caught:
        planned("{given: [a], wanted: [b], actions: {x.y: {requires: [a], effects: [b], takes: {text: a}}}}")
    assert "`with`" in caught.value.problems[0].help


def test_any_step_of_a_plan_can_be_an_action():
    plan = planned("""
objects: {part: [api, ui]}
wanted: [agreed, written(api), written(ui)]
budget: {usd: 2}
actions:
  write: {effects: [written(?part)], step: {agent: code, task: Write the ?part}}
  agree: {requires: [written(api), written(ui)], effects: [agreed], step: {ask: May it go?}}
""").usable()
    assert {step.id: step.kind for step in plan.steps} == {"write_api": "agent", "write_ui": "agent", "agree": "ask"}
    assert plan.steps[0].task == "Write the api"
    assert plan.budget.usd == 2


def test_a_step_that_makes_no_sense_is_refused_with_the_problems_of_a_plan():
    with pytest.raises(PlanError) as caught:
        planned("{wanted: [a], actions: {x: {effects: [a], step: {agnt: code}}}}")
    assert caught.value.problems[0].code == "PRD1104"


def test_where_all_holds_already_there_is_nothing_to_do():
    found = planned("{given: [a], wanted: [a, not b], actions: {x.y: {effects: [b]}}}")
    assert (found.plan.steps[0].kind, found.cost, found.proven) == ("done", 0, True)
    assert run_sync(found.plan).status == "succeeded"


def test_the_engine_carries_it_out_and_each_step_finds_what_it_requires():
    document, holds, done = pipeline(Random(3), 16, breaks=0), set(), []
    found = plan_from_contracts(contracts_of(document))

    def deed(name, action):
        @tool(name=name, repeat="safe")
        def do() -> None:
            assert all((each.removeprefix("not ") in holds) != each.startswith("not ") for each in action["requires"])
            done.append(name)
            for each in action["effects"]:
                (holds.discard if each.startswith("not ") else holds.add)(each.removeprefix("not "))

        return do

    result = run_sync(found.plan, tools=[deed(*each) for each in document["actions"].items()])
    assert result.status == "succeeded"
    assert len(done) == len(found.plan.steps) > 4
    assert set(document["wanted"]) <= holds | {"not dirty"}


# ------------------------------------------------------------------------------- tools


@tool(name="shop.pack", requires=["paid(?order)", "not packed(?order)"], achieves=["packed(?order)"])
def pack(order: str) -> None: ...


@tool(name="shop.charge", achieves=["paid(?order)"])
def charge(order: str, note: str = "") -> None: ...


@tool(name="shop.send", requires=["packed(?order)"], achieves=["sent(?order)"])
def send(order: str, by: str) -> None: ...


def test_tools_take_part_with_what_they_declare():
    plan = planned("{objects: {order: [o1, o2]}, wanted: [packed(o2)]}", pack, charge).usable()
    assert [(step.tool, step.with_) for step in plan.steps] == [
        ("shop.charge", {"order": "o2"}),
        ("shop.pack", {"order": "o2"}),
    ]


def test_a_document_says_what_a_tools_contract_does_not():
    text = (
        "{objects: {order: [o1]}, given: [packed(o1)], wanted: [sent(o1)], actions: {shop.send: {with: {by: train}}}}"
    )
    assert planned(text, send).usable().steps[0].with_ == {"order": "o1", "by": "train"}
    assert planned(text.replace("shop.send: {with: {by: train}}", ""), send).plan is None


def test_a1_a_tool_that_is_not_there_is_named_if_it_would_help():
    text = RELEASE.replace("mail.joke: {effects: [laughed]}", "")
    found = planned(text, pack)
    assert found.plan is None
    assert found.lacking == ("build.compile", "build.document", "build.ship", "build.sign", "build.test", "mail.tell")
    assert "build.ship" in found.why
    with pytest.raises(NoPlan, match="cannot be reached") as caught:
        found.usable()
    assert "build.ship" in caught.value.help


def test_a_call_that_a_tool_cannot_take_is_refused():
    text = "{objects: {order: [o1]}, wanted: [paid(o1)], actions: {shop.charge: {with: {orders: all}}}}"
    with pytest.raises(PlanError, match="orders"):
        planned(text, charge)


def test_a1_tools_that_are_not_there_are_named_where_all_was_looked_at_too():
    @tool(name="mouth.eat", requires=["cake"], achieves=["eaten", "not cake"])
    def eat() -> None: ...

    found = planned("{given: [cake], wanted: [cake, eaten], actions: {oven.bake: {effects: [cake]}}}", eat)
    assert (found.plan, found.proven, found.lacking) == (None, True, ("oven.bake",))
    assert found.why.endswith("these tools are not there: oven.bake")


# ------------------------------------------------------------------------------- there is none

UNREACHABLE = [
    ("{wanted: [a]}", ["a"], "no action makes `a` true"),
    ("{wanted: [a], actions: {x.y: {requires: [b], effects: [a]}}}", ["a"], "requires `b`; no action makes `b` true"),
    ("{given: [b], wanted: [not b]}", ["not b"], "no action makes `b` false"),
    ("{given: [b], wanted: [a], actions: {x.y: {requires: [not b], effects: [a]}}}", ["a"], "makes `b` false"),
    ("{wanted: [a, c], actions: {x.y: {effects: [c]}}}", ["a"], "no action makes `a` true"),
    (
        "{wanted: [a], actions: {x.y: {requires: [b], effects: [a]}, x.z: {requires: [a], effects: [b]}}}",
        ["a"],
        "goes round in a circle",
    ),
    (
        "{given: [builded], wanted: [a], actions: {x.y: {requires: [builtd], effects: [a]}}}",
        ["a"],
        'did you mean "builded"?',
    ),
    (
        MOVING.replace('"at(red, shop)", "at(blue, shop)"', '"at(red, home)"'),
        ["at(red, home)"],
        "`at(red, home)` would come of drive(red, depot, home), which requires `road(depot, home)`",
    ),
]


@pytest.mark.parametrize(("text", "facts", "said"), UNREACHABLE, ids=[each[2][:40] for each in UNREACHABLE])
def test_a1_what_cannot_be_reached_is_named_with_the_nearest_thing_that_is_missing(text, facts, said):
    found = planned(text)
    assert (found.plan, found.proven) == (None, True)
    assert [each.fact for each in found.missing] == facts
    assert said in found.why


def test_a1_wishes_that_exclude_each_other_are_told():
    found = planned("""
given: [cake]
wanted: [cake, eaten]
actions: {mouth.eat: {requires: [cake], effects: [eaten, not cake]}}
""")
    assert (found.plan, found.proven) == (None, True)
    assert "never all at once" in found.why
    assert "all 2 states" in found.why


def test_a1_a_fact_that_no_order_makes_true_is_named():
    found = planned("""
given: [egg]
wanted: [omelette]
actions:
  cook.fry: {requires: [egg], effects: [fried, not egg]}
  cook.whip: {requires: [egg], effects: [whipped, not egg]}
  cook.join: {requires: [fried, whipped], effects: [omelette]}
""")
    assert (found.plan, found.proven) == (None, True)
    assert "no order of these actions makes `omelette` true" in found.why


def test_what_is_not_found_is_given_up_after_a_stated_number_of_states_and_nothing_is_claimed():
    found = plan_from_contracts(contracts_of(sliding([2, 1, 3, 4, 5, 6, 7, 8], 3)), most=300)
    assert (found.plan, found.proven, found.states) == (None, False, 300)
    assert "gave up after 300 states" in found.why


def test_too_many_ways_are_refused_with_their_number():
    names = ", ".join(f"n{n}" for n in range(40))
    text = f'{{objects: {{thing: [{names}]}}, wanted: [a], actions: {{x.y: {{effects: ["f(?a:thing, ?b:thing, ?c:thing)", a]}}}}}}'
    with pytest.raises(TooManyWays, match=r"64,000 \(40 times 40 times 40") as caught:
        planned(text)
    assert "road(?from, ?to)" in caught.value.help


def test_large_numbers_of_objects_are_no_matter_where_few_of_them_go_together():
    names = [f"n{n}" for n in range(400)]
    document = {
        "objects": {"place": names},
        "given": ["at(n0)", *(f"road(n{n}, n{n + 1})" for n in range(60))],
        "wanted": ["at(n60)"],
        "actions": {
            "go.on": {"requires": ["at(?a:place)", "road(?a, ?b:place)"], "effects": ["at(?b)", "not at(?a)"],
                      "with": {"a": "?a", "b": "?b"}},
        },
    }  # fmt: skip
    assert plan_from_contracts(contracts_of(document)).cost == 60


def test_the_same_contracts_give_the_same_plan_everywhere():
    code = (
        "import sys; sys.path.insert(0, 'tests/support')\nfrom random import Random\nfrom contracts_by_lot import blocks\n"
        "from perdure.agents.contracts import *\n"
        "print(plan_from_contracts(contracts_of(blocks(Random(4), 6))).plan.hash)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]  # fmt: skip
    own = plan_from_contracts(contracts_of(blocks(Random(4), 6))).plan.hash
    assert {each.stdout.strip() for each in runs} == {own}


# ------------------------------------------------------------------------------- reading

REFUSED = [
    ("{wanted: [a], action: {}}", "action", "there is no field `action` here", 'did you mean "actions"?'),
    ("{given: [a]}", "", "`wanted` is missing", "list of facts"),
    ("{wanted: tested}", "wanted", "`wanted` must be a list", 'write ["tested"]'),
    ("{wanted: []}", "wanted", "`wanted` must", "What has to hold in the end."),
    ("{wanted: [at(truck, depot)]}", "wanted[0]", '"at(truck" is no fact', "quotes"),
    ("{wanted: [3]}", "wanted[0]", "must be a text", "What has to hold"),
    ("{wanted: [a = 3]}", "wanted[0]", '"a = 3" is no fact', "by its name"),
    ("{wanted: [writes]}", "wanted[0]", "effect word", "writes_it"),
    ("{wanted: [at(?x)]}", "wanted[0]", "has a variable", "name the objects"),
    ("{wanted: [a], given: [not a]}", "given[0]", "says what does not hold", "leave it out"),
    ("{wanted: [a], objects: {a place: [x]}}", "objects.a place", "cannot name a kind", "letters"),
    ("{wanted: [a], objects: {place: [a b]}}", "objects.place[0]", "cannot name an object", "letters"),
    ("{wanted: [f(a)], objects: {place: [b]}}", "wanted[0]", 'no object "a"', "b"),
    ('{wanted: [f(a)], given: ["f(a, b)"]}', "wanted[0]", "1 objects here, and of 2", "another name"),
    ("{wanted: [a], actions: {x.y: {effects: [f(?trck)]}}, objects: {truck: [t]}}", "actions.x.y", '"trck"', '"truck"'),
    ("{wanted: [a], actions: {x: {effects: [a]}}}", "actions.x", "does not say how", "tool: domain.name"),
    ("{wanted: [a], actions: {x.y: {requires: [a]}}}", "actions.x.y", "changes nothing", "effects"),
    ("{wanted: [a], actions: {x.y: {effects: [a, not a]}}}", "actions.x.y", "both true and false", "decide"),
    ("{wanted: [b], actions: {x.y: {requires: [a, not a], effects: [b]}}}", "actions.x.y", "requires", "decide"),
    ("{wanted: [a, not a]}", "", "is wanted both", "decide"),
    ("{contracts: 2, wanted: [a]}", "contracts", "`contracts` must be 1", "version"),
    ("{wanted: [a], actions: {x.y: {effects: [a], cost: -1}}}", "actions.x.y.cost", "`cost` must be at least 0", "counts"),
    ("{wanted: [a], actions: {x.y: {effects: [a], takes: {b: c}}}}", "actions.x.y", "does not require", "requires"),
    ("{wanted: [a], actions: {x.y: {effects: [a], step: {id: a, agent: b}}}}", "actions.x.y", "planner's", "leave"),
    ("{wanted: [a], actions: {x.y: {effects: [a], step: {agent: b}, tool: a.b}}}", "actions.x.y", "or by a `step`", ""),
    ("{wanted: [a], actions: {x.y: {effects: [a], tool: b}}}", "actions.x.y.tool", "`tool`", "tool that does it"),
    ("[a]", "", "must be a mapping", "wanted"),
    ("{wanted: [a], wanted: [b]}", "wanted", "", ""),
    ("{wanted: [a", "", "not YAML", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "flaw", "hint"), REFUSED, ids=[each[0][:50] for each in REFUSED])
def test_e1_what_cannot_be_read_is_told_with_its_place_and_what_to_write_instead(text, path, flaw, hint):
    with pytest.raises(ContractsError) as caught:
        read_contracts(text, "release.yaml")
    told = caught.value.problems[0].as_json()
    assert flaw in told["message"]
    assert hint in (told["hint"] or "")
    assert (told["path"], told["file"]) == (path, "release.yaml")
    assert told["line"] in (1, 2)


def test_all_problems_are_told_at_once_in_their_order():
    with pytest.raises(ContractsError) as caught:
        read_contracts("given: [not a]\nwanted: [b =]\nactions:\n  x.y: {efects: [a]}\n", "x.yaml")
    assert [each.line for each in caught.value.problems] == [1, 2, 4]
    assert caught.value.code == "PRD4301"


def test_contracts_come_from_files_in_yaml_and_in_json(tmp_path):
    (tmp_path / "a.yaml").write_text("wanted: [a]\nactions: {x.y: {effects: [a]}}\n")
    (tmp_path / "a.json").write_text('{"wanted": ["a"], "actions": {"x.y": {"effects": ["a"]}}}')
    assert load_contracts(tmp_path / "a.yaml") == load_contracts(tmp_path / "a.json")
    for name in ("none.yaml", "."):
        with pytest.raises(ContractsError, match="cannot read"):
            load_contracts(tmp_path / name)
    (tmp_path / "a.json").write_text('{"wanted": ["a"], "actions": {"x.y": {"efects": ["a"]}}}')
    with pytest.raises(ContractsError, match="did you mean"):
        load_contracts(tmp_path / "a.json")


@pytest.mark.parametrize("name", ["release", "delivery"])
def test_the_examples_have_plans(name):
    assert plan_from_contracts(load_contracts(ROOT / f"examples/contracts/{name}.yaml")).proven


def test_the_page_shows_the_example():
    page = (ROOT / "docs/concepts/contracts.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```yaml contracts\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown == (ROOT / "examples/contracts/release.yaml").read_text(encoding="utf-8")


def test_an_action_without_effects_needs_a_tool_that_declares_them():
    with pytest.raises(ContractsError, match="changes nothing"):
        planned("{wanted: [a], actions: {x.y: {}}}")
