"""E8 E16: `perdure show`: steps, failures, questions; now and then."""

import json

from runs import ASK, FAIL, HELLO

MANY = """
perdure: 1
inputs: {list: {type: array}}
steps:
  - {id: each, map: "${inputs.list}", steps: [{id: say, tool: flow.echo, with: {value: "${item}"}}]}
"""


def test_steps_with_exits_outputs_and_failures(place):
    place.run(FAIL, code=1)
    shown = place.do("show", "@last").stdout
    assert "status  failed in bad: logic: no luck" in shown
    assert "✓ good" in shown
    assert "→ 1" in shown
    assert "✗ bad  failure" in shown
    assert f"plan    {place.shown()['plan']}" in shown


def test_who_goes_on_elsewhere_has_not_failed(place):
    plan = """
perdure: 1
steps:
  - {id: which, decide: "'late'", choices: [soon, late]}
  - {id: late, tool: flow.echo, with: {value: 2}, on: {success: end}}
  - {id: soon, tool: flow.echo, with: {value: 1}}
  - {id: end, done: true}
"""
    place.run(plan)
    shown = place.do("show", "@last").stdout
    assert "✓ which  late" in shown
    assert "✓ late" in shown
    assert "✗" not in shown


def test_open_questions_with_how_to_answer(place):
    place.run(ASK, code=4)
    shown = place.do("show", "@last").stdout
    assert "? ship  asks: Ship build 7?" in shown
    assert f"perdure approve {place.shown()['id']} q_ship_1 --db {place.db}" in shown
    assert "· publish" in shown


def test_as_it_stood(place):
    place.run(HELLO, "-i", "name=Ada")
    shown = place.do("show", "@last", "--at", 2).stdout
    assert "2 facts" in shown
    assert "▶ greet" in shown
    assert json.loads(place.do("show", "@last", "--at", 1, "--json").stdout)["steps"] == {}


def test_a_large_group_is_shown_in_part_unless_all_is_asked_for(place):
    place.run(MANY, "-i", f"list={list(range(130))}")
    part = place.do("show", "@last").stdout
    assert "130 of 130 over" in part
    assert "✓ [5]" not in part
    whole = place.do("show", "@last", "--all").stdout
    assert (whole.count("  ✓ ["), whole.count("    ✓ say  ")) == (130, 130)


def test_items_of_a_map_are_named_in_short_and_tell_what_they_are(place):
    place.run(MANY, "-i", 'list=["one", {"two": 2}]')
    words = [line.split("  ") for line in place.do("show", "@last").stdout.split("✓ each")[1].splitlines()[1:5]]
    assert [[word for word in line if word and not word.endswith("ms")][:2] for line in words] == [
        ["✓ [0]", "one"],
        ["✓ say", "→ one"],
        ["✓ [1]", '{"two": 2}'],
        ["✓ say", '→ {"two": 2}'],
    ]
    assert {"each/1[0]", "each/1[0].say"} <= place.shown()["steps"].keys(), "whoever wants a key finds it there"


def test_what_is_not_there(place):
    assert place.do("show", "@last", code=3).stdout == ""
    place.run(FAIL, code=1)
    assert "PRD2002" in place.do("show", "r_zzz", code=3).stderr
    place.do("describe", "@last")


SPEND = """
from perdure import Context, ToolFailure, tool

@tool(name="shop.buy", repeat="safe", effects=["costs"], estimate={"usd": 1})
def buy(context: Context, luck: bool = True) -> str:
    context.spend(usd=2.5, tokens=1200, calls=3)
    if not luck:
        raise ToolFailure("logic", "sold out")
    return "bought"
"""
BUY = """
perdure: 1
budget: {usd: 4}
steps:
  - {id: one, tool: shop.buy}
  - {id: two, tool: shop.buy, with: {luck: false}}
"""


def test_what_tools_said_they_took_and_how_far_that_went_beyond_a_budget(place):
    (place.path / "shop.py").write_text(SPEND)
    place.run(BUY, "--tools", "shop", code=1)
    shown = place.do("show", "@last").stdout
    assert "spent   the run: 5 of 4 usd, overrun by 1" in shown
    logged = place.do("logs", "@last").stdout
    assert "one  done: bought, 1,200 tokens, 3 calls, 2.5 usd" in logged
    assert "two  the attempt failed: logic: sold out, 1,200 tokens, 3 calls, 2.5 usd" in logged
    usage = place.shown()["usage"]
    assert (usage["usd"], usage["tokens"], usage["calls"]) == (5.0, 2400, 6)
    assert usage["budgets"][""]["usd"]["overrun"] == 1


COMMANDS = """
perdure: 1
steps:
  - {id: hello, tool: shell.run, with: {command: [echo, hello]}}
  - {id: plain, tool: flow.echo, with: {value: 1}}
  - {id: bad, tool: shell.run, with: {command: ["false"]}}
"""


def test_a_lowered_sandbox_is_told_everywhere(place):
    """Only the user's own settings lower it, and then every event of a command says so."""
    own = place.path / "own" / "perdure"
    own.mkdir(parents=True)
    (own / "policy.toml").write_text("[sandbox]\ntier = 'none'\n[commands]\nallow = [['*']]\n")
    (own / "policy.toml").chmod(0o600)
    (place.path / "work").mkdir()
    place.run(COMMANDS, "--workspace", place.path / "work", code=1, XDG_CONFIG_HOME=str(own.parent))
    events = [json.loads(line) for line in place.do("logs", "@last", "--jsonl").stdout.splitlines()]
    told = {each["body"]["step"]: each["body"].get("sandboxed") for each in events if each["type"] == "attempt_ended"}
    assert told == {"hello": "none", "plain": None, "bad": "none"}
    shown = place.do("show", "@last").stdout
    assert "sandbox lowered to none by the user's settings" in shown
    lines = {line.split()[1]: line for line in shown.splitlines() if line[:1] in ("✓", "✗")}
    assert ["sandbox lowered to none" in lines[step] for step in ("hello", "plain", "bad")] == [True, False, True]
    assert place.do("logs", "@last").stdout.count("sandbox lowered to none") == 2
    assert place.do("watch", "@last", code=1).stderr.count("sandbox lowered to none") == 2
    assert [step["sandboxed"] for step in place.shown()["steps"].values()] == ["none", None, "none"]


FLAKY = """
from perdure import Context, Rule, tool

class Busy(Exception):
    pass

@tool(name="shop.order", repeat="safe", failures=[Rule("rate_limited", exception=Busy, retry_after=0.01)])
def order(context: Context, luck: int) -> int:
    if context.attempt <= luck:
        raise Busy("the shop is \\x1b[31mbusy")
    return context.attempt

@tool(name="shop.pay", repeat="never")
def pay() -> int:
    return 9
"""
ORDER = """
perdure: 1
steps:
  - {id: order, tool: shop.order, with: {luck: 2}, retry: {attempts: 3, wait: 10ms}}
"""


def test_what_failed_and_what_helped(place):
    (place.path / "flaky.py").write_text(FLAKY)
    place.run(ORDER, "--tools", "flaky")
    shown = place.do("show", "@last", "--failures").stdout
    assert "2 failures in 1 visit, 1 of them helped" in shown
    kinds = [line.split("\t")[2] for line in shown.splitlines()[2:]]
    assert kinds == ["✗ rate_limited", "→ retry", "✗ rate_limited", "→ retry", "✓ success"]
    assert "retry helped" in shown
    assert "by tool: exception=flaky.Busy" in shown
    assert "\x1b" not in shown
    (case,) = json.loads(place.do("show", "@last", "--failures", "--json").stdout)["failures"]
    assert (case["step"], case["helped"], case["troubles"][0]["retry_after"]) == ("order", "retry", 0.01)
    (case,) = json.loads(place.do("show", "@last", "--failures", "--json", "--at", 3).stdout)["failures"]
    assert case["helped"] == ""


GROUP = """
perdure: 1
steps:
  - id: trip
    retry: {attempts: 2, wait: 1ms}
    alternates: [{tool: flow.echo, with: {value: by train}}]
    steps:
      - {id: book, tool: shop.pay}
      - {id: no, tool: shop.order, with: {luck: 9}, retry: {attempts: 1}}
"""


def test_why_a_group_was_not_done_in_another_way(place):
    (place.path / "flaky.py").write_text(FLAKY)
    place.run(GROUP, "--tools", "flaky", code=1)
    shown = place.do("show", "@last", "--failures").stdout
    assert "not tried in any other way, for this cannot be taken back: book" in shown
    cases = json.loads(place.do("show", "@last", "--failures", "--json").stdout)["failures"]
    assert {case["step"]: case["stays"] for case in cases} == {"no": [], "trip": ["book"]}


def test_nothing_failed(place):
    place.run(HELLO, "-i", "name=Ada")
    assert "nothing failed" in place.do("show", "@last", "--failures").stdout


def test_the_users_rules_hold_for_runs(place):
    (place.path / "flaky.py").write_text(FLAKY)
    own = place.path / ".config" / "perdure"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[[failures]]\nexception = "*.Busy"\nkind = "invalid"\n')
    place.run(ORDER, "--tools", "flaky", code=1)
    assert place.shown()["failure"]["kind"] == "invalid"
    shown = place.do("config", "show", "--origin").stdout
    assert f"failures[0]\texception=*.Busy: invalid\t{own / 'config.toml'}" in shown
