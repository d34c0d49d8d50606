"""Rules that could never match are found before anything runs; and what the checks pass is what the core can match."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from perdure.core.layers import layer_of, layers_at
from perdure.core.policy import Deed, Layer, Terms, judge
from perdure.plan import Plan
from perdure.plan.checks import check
from perdure.plan.checks.policy import command_flaw, host_flaw, name_flaw, path_flaw
from perdure.plan.index import Index
from perdure.plan.model.parts import Policy
from perdure.plan.model.recalling import recalled
from perdure.plan.reading import read_text


def problems(policy):
    plan = Plan.model_validate({"policy": policy, "steps": [{"id": "a", "tool": "a.b"}]})
    return [(each.code, ".".join(map(str, each.path)), each.message, each.help) for each in check(plan)]


# ------------------------------------------------------------ what is wrong, and what to write instead

WRONG = [
    ({"files": {"write": ["/etc/**"]}}, "policy.files.write.0", "leads out", "src/**"),
    ({"files": {"read": ["~/.ssh/id"]}}, "policy.files.read.0", "leads out", "src/**"),
    ({"files": {"deny": ["src", "../x"]}}, "policy.files.deny.1", "no plain path", "write x"),
    ({"files": {"ask": ["./src/"]}}, "policy.files.ask.0", "no plain path", "write src"),
    ({"files": {"deny": [""]}}, "policy.files.deny.0", "no plain path", "write **"),
    ({"files": {"deny": ["src\\a"]}}, "policy.files.deny.0", "no file", "/ between"),
    ({"files": {"deny": ["a\n"]}}, "policy.files.deny.0", "no file", "control"),
    ({"files": {"deny": ["src/**.py"]}}, "policy.files.deny.0", "stand alone", "src/**/*.py"),
    ({"network": ["https://example.com/x"]}, "policy.network.0", "page", "write example.com"),
    ({"network": ["a", "10.0.0.0/8"]}, "policy.network.1", "no host", "ranges"),
    ({"network": {"deny": ["example.com."]}}, "policy.network.deny.0", "dot", "write example.com"),
    ({"network": {"ask": ["example.*"]}}, "policy.network.ask.0", "no host", "*.example.com"),
    ({"network": {"allow": ["a:b"], "ask": []}}, "policy.network.allow.0", "no port", "a:443"),
    ({"network": ["a:70000"]}, "policy.network.0", "no port", "a:443"),
    ({"network": ["127.1"]}, "policy.network.0", "no plain address", "192.0.2.1"),
    ({"network": ["2001:db8::1"]}, "policy.network.0", "no plain address", "[2001:db8::1]"),
    ({"network": ["[::ffff:10.0.0.1]"]}, "policy.network.0", "no plain address", "[2001:db8::1]"),
    ({"network": ["[0::1]"]}, "policy.network.0", "no plain address", "[2001:db8::1]"),
    ({"network": ["127.0.0.01"]}, "policy.network.0", "no plain address", "192.0.2.1"),
    ({"network": ["bücher.example"]}, "policy.network.0", "no host", "xn--"),
    ({"network": ["user@example.com"]}, "policy.network.0", "no host", "host:port"),
    ({"commands": {"allow": [[]]}}, "policy.commands.allow.0", "empty", "[git, status]"),
    ({"commands": {"ask": [["", "x"]]}}, "policy.commands.ask.0", "empty", "[git, status]"),
    ({"commands": {"deny": [["ls"], ["git push *"]]}}, "policy.commands.deny.1", "one word", '[git, push, "*"]'),
    ({"commands": {"deny": [["a", "\0"]]}}, "policy.commands.deny.0", "NUL", "leave"),
    ({"tools": {"deny": [""]}}, "policy.tools.deny.0", "nothing is called", "files.*"),
    ({"resources": {"ask": ["a\t"]}}, "policy.resources.ask.0", "nothing is called", "files.*"),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "place", "message", "hint"), WRONG, ids=lambda each: str(each)[:40])
def test_a_rule_that_can_never_match_is_a_problem_with_a_place_and_a_way_out(policy, place, message, hint):
    [found] = problems(policy)
    assert found[:2] == ("PRD1414", place)
    assert message in found[2]
    assert hint in found[3]


def test_rules_that_can_match_are_none():
    policy = {
        "files": {"read": ["**"], "write": ["src/", "[id]/*.py", "a b", "~x"], "ask": ["?"], "deny": ["**/.env*", "..."]},
        "network": {"allow": ["*", "*:*", "*.Example.com:*", "127.0.0.1:80", "[::1]"], "ask": ["a"], "deny": ["xn--a:1"]},
        "commands": {"allow": [["*"]], "ask": [["git", "commit", "-m", "a b"]], "deny": [["/usr/bin/git", "*"], ["a b", "c"]]},
        "tools": {"allow": ["files.*"], "deny": ["*"]},
        "resources": {"allow": []},
    }  # fmt: skip
    assert problems(policy) == []


def test_it_is_found_in_every_layer_with_its_line():
    text = """perdure: 1
steps:
  - id: g
    policy: {files: {write: [/a]}}
    steps:
      - {id: s, tool: a.b, policy: {network: ["http://x"]}}
      - id: p
        plan:
          policy:
            commands: {deny: [[]]}
          steps: [{id: i, tool: a.b}]
"""
    found = read_text(text).problems
    assert [(each.code, each.line) for each in found] == [("PRD1414", 4), ("PRD1414", 6), ("PRD1414", 10)]


# ------------------------------------------------------------ the checks and the core agree


def judged(kind, field, pattern, *what):
    return judge((Layer("x", **{field: Terms((pattern,))}),), Deed(kind, *what)).verdict


def filled(pattern):
    return pattern.replace("**", "x").replace("*", "x").replace("?", "x")


pieces = st.sampled_from(["a", ".", "..", "*", "**", "?", "/", "/", "\\", "~", "\n", "[a]", "é", " "])
globs = st.lists(pieces, max_size=6).map("".join)


@given(globs, globs)
def test_a_glob_passes_if_it_can_match_and_is_refused_if_it_cannot(glob, path):
    if path_flaw(glob) is None:
        witness = filled(glob + "**" if glob.endswith("/") else glob)
        assert judged("write", "files_write", glob, witness) == "allow", witness
    else:
        assume("**" not in glob)
        assume(not glob.startswith("~/"))
        assert judged("write", "files_write", glob, path) == "deny"
        assert judged("write", "files_write", glob, filled(glob)) == "deny"


host_pieces = st.sampled_from(
    ["a", "B", "1", "0x", "127.0.0.1", "::1", "[", "]", ".", ":", "*", "-", "443", "080", "/", "@", "é", "K", "_"]
)
host_texts = st.lists(host_pieces, max_size=6).map("".join)


@given(host_texts, host_texts)
def test_a_host_passes_if_it_can_match_and_is_refused_if_it_cannot(pattern, host):
    if host_flaw(pattern) is None:
        witness = pattern.replace(":*", ":80").replace("*", "x", 1)
        assert judged("connect", "network", pattern, witness) == "allow", witness
    else:
        assert judged("connect", "network", pattern, host) == "deny"
        assert judged("connect", "network", pattern, pattern) == "deny"


@given(st.lists(st.sampled_from(["", "a", "*", "a b", "\0", "-x*"]), max_size=3))
def test_a_command_passes_if_it_can_match(pattern):
    if command_flaw(pattern) is None:
        witness = tuple(word.replace("*", "x") for word in pattern)
        assert judged("run", "commands", tuple(pattern), witness[0], witness) == "allow"
    else:
        assume(" " not in "".join(pattern))
        words = tuple(word.replace("*", "x") for word in pattern)
        assert judged("run", "commands", tuple(pattern), words[0] if words else "", words) == "deny"


@given(st.text(alphabet="a*?.\0\n", max_size=4))
def test_a_name_passes_if_it_can_match(pattern):
    assert (judged("call", "tools", pattern, filled(pattern)) == "allow") is (name_flaw(pattern) is None)


# ------------------------------------------------------------ from policies to layers

FULL = {
    "files": {"read": ["r"], "write": ["w"], "ask": ["a"], "deny": ["d"]},
    "network": {"allow": ["h"], "ask": ["i"], "deny": ["j"]},
    "commands": {"allow": [["x"]], "ask": [["y"]], "deny": [["z"]]},
    "tools": {"allow": ["t"], "ask": ["u"], "deny": ["v"]},
    "resources": {"allow": ["k"], "ask": ["l"], "deny": ["m"]},
    "ask": ["costs"],
    "deny": ["network"],
}


def test_a_policy_becomes_a_layer_with_all_that_it_says():
    assert layer_of(Policy.model_validate(FULL), "me") == Layer(
        "me",
        files_read=Terms(("r",), (), ("d",)),
        files_write=Terms(("w",), ("a",), ("d",)),
        network=Terms(("h",), ("i",), ("j",)),
        commands=Terms((("x",),), (("y",),), (("z",),)),
        tools=Terms(("t",), ("u",), ("v",)),
        resources=Terms(("k",), ("l",), ("m",)),
        effects=Terms(None, ("costs",), ("network",)),
    )


def test_a_policy_that_says_nothing_is_a_layer_that_says_nothing():
    assert layer_of(Policy(), "me") == Layer("me")
    assert layer_of(Policy.model_validate({"network": []}), "me").network == Terms(())


def test_the_layers_of_a_step_come_from_the_outside_in():
    said = {"ask": ["costs"]}
    inner = {"policy": said, "steps": [{"id": "i", "tool": "a.b", "policy": said}, {"id": "end", "done": True}]}
    plan = Plan.model_validate(
        {
            "policy": said,
            "steps": [{"id": "g", "policy": said, "steps": [{"id": "s", "plan": inner, "policy": said}]}, {"id": "x", "tool": "a.b"}],
        }
    )  # fmt: skip
    index, user = Index(plan), Layer("user")

    def names(id_):
        return [layer.name for layer in layers_at(index.by_id[id_], [user])]

    assert names("i") == ["user", "the plan", "step g", "step s", "the plan in s", "step i"]
    assert names("end") == ["user", "the plan", "step g", "step s", "the plan in s"]
    assert names("x") == ["user", "the plan"]
    assert [layer.name for layer in layers_at(index.root)] == ["the plan"]


# ------------------------------------------------------------ reading, writing, hashing


def planned(policy):
    return Plan.model_validate({"policy": policy, "steps": [{"id": "a", "tool": "a.b"}]})


@pytest.mark.parametrize(
    "policy", [FULL, {"network": ["a"]}, {"network": {"deny": ["a"]}}, {"commands": {"ask": []}}, {}]
)
def test_a_policy_comes_back_as_it_was(policy):
    plan = planned(policy)
    again = recalled(plan.canonical_json())
    assert again == plan
    assert again.canonical_json() == plan.canonical_json()
    assert layer_of(again.policy, "x") == layer_of(plan.policy, "x")


def test_what_says_the_same_has_the_same_hash():
    assert planned({"network": {"allow": ["a"]}}).hash == planned({"network": ["a"]}).hash
    assert planned({"network": {"allow": ["a"], "ask": []}}).policy != planned({"network": []}).policy


def test_policies_of_earlier_releases_keep_their_hash():
    plan = planned({"files": {"read": ["a/*"]}, "network": [], "commands": {"allow": [["ls", "*"]], "deny": []}, "ask": ["writes"]})  # fmt: skip
    assert plan.hash == "sha256-jcs-v1:a18e61f1de1ab151cdcea9cb51e38484890f01ac4f835621b8f47fd917bcd741"


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("{network: example.com}", "PRD1103", "network", "[example.com]"),
        ("{network: {alow: [x]}}", "PRD1101", "network.alow", "allow"),
        ("{network: {allow: x}}", "PRD1103", "network.allow", "[x]"),
        ("{network: [1]}", "PRD1103", "network.0", "host:port"),
        ("{tools: {denny: [x]}}", "PRD1101", "tools.denny", "deny"),
        ("{deny: [write]}", "PRD1103", "deny.0", "writes"),
        ("{commands: {ask: [git]}}", "PRD1103", "commands.ask.0", "[git]"),
        ("{files: {aks: []}}", "PRD1101", "files.aks", "ask"),
    ],
)
def test_a_wrong_shape_is_told_where_it_stands(text, code, place, hint):
    [found] = read_text(f"perdure: 1\npolicy: {text}\nsteps: [{{id: a, tool: a.b}}]\n").problems
    assert (found.code, ".".join(map(str, found.path))) == (code, f"policy.{place}")
    assert hint in found.help
