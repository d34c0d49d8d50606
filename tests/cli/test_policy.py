"""E6 E7: `perdure policy`: the layers in force, and what they say about a deed."""

import json

import pytest

PLAN = """perdure: 1
policy:
  files: {write: ["src/**"], ask: ["src/ci/**"]}
  commands: {allow: [[git, "*"]], deny: [[git, push, "*"]]}
  ask: [irreversible]
steps:
  - id: outer
    policy: {network: [example.com]}
    steps:
      - {id: look, tool: a.b, policy: {files: {write: []}}}
      - {id: edit, tool: a.b}
"""


@pytest.fixture
def work(home):
    (home / "work").mkdir()
    (home / "work" / "plan.yaml").write_text(PLAN)
    return home / "work"


@pytest.fixture
def own(home):
    def own(text, mode=0o600):
        file = home / ".config" / "perdure" / "policy.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    return own


def rows(done):
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def test_show_prints_the_layers_from_the_outside_in(perdure, work, own):
    file = own("network = ['example.com', 'b']")
    done = perdure("policy", "show", "plan.yaml", "--step", "look", cwd=work)
    assert done.returncode == 0
    assert done.stderr == f"your policy: {file}\n"
    assert rows(done) == [
        ("your policy", "connect", "example.com, b", "", ""),
        ("the plan", "write", "src/**", "src/ci/**", ""),
        ("the plan", "run", "git *", "", "git push *"),
        ("the plan", "effect", "", "irreversible", ""),
        ("step outer", "connect", "example.com", "", ""),
        ("step look", "write", "nothing", "", ""),
    ]
    assert len(rows(perdure("policy", "show", "plan.yaml", cwd=work))) == 4
    assert len(rows(perdure("policy", "show", cwd=work))) == 1


def test_show_says_when_there_is_no_file_and_when_the_sandbox_is_lowered(perdure, work, own):
    assert "the default holds" in perdure("policy", "show", cwd=work).stderr
    own("[sandbox]\ntier = 'none'")
    done = perdure("policy", "show", cwd=work)
    assert "note: your policy lowers the sandbox to none" in done.stderr
    assert ("your policy", "run", "", "*", "") in rows(done)


def test_another_directory_can_be_asked_about(perdure, work, home):
    """The policy lies below the home: who works there may not write it."""
    deed = "write .config/perdure/policy.toml"
    ask = ("policy", "test", home / "work" / "open.yaml", deed)
    (work / "open.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: a.b}]\n")
    assert perdure(*ask, cwd=work).returncode == 0
    assert perdure(*ask, "--workspace", home, cwd=work).returncode == 1
    assert perdure(*ask, cwd=home).returncode == 1
    there = perdure("policy", "show", "--workspace", home, cwd=work)
    assert ("perdure", "write", "", "", ".config/perdure, .config/perdure/**") in rows(there)
    assert perdure("policy", "show", "--workspace", home / "nowhere", cwd=work).returncode == 2


def test_a_layer_that_says_nothing_is_shown_as_such(perdure, work):
    (work / "quiet.yaml").write_text("perdure: 1\npolicy: {}\nsteps: [{id: a, tool: a.b}]\n")
    assert ("the plan", "says nothing", "", "", "") in rows(perdure("policy", "show", "quiet.yaml", cwd=work))


def test_show_as_json(perdure, work, own):
    file = own("[sandbox]\nbinds = ['/opt/x']\n[tools]\nentry_points = false\n[secrets]\nsource='s'")
    found = json.loads(perdure("policy", "show", "--json", "plan.yaml", "--step", "edit", cwd=work).stdout)
    assert found["schema"] == "perdure.policy/1"
    assert (found["file"], found["default"], found["entry_points"]) == (str(file), False, False)
    assert found["sandbox"] == {"tier": "bwrap", "binds": ["/opt/x"]}
    assert found["secrets"] == str(file.parent / "s")
    assert [layer["name"] for layer in found["layers"]] == ["your policy", "the plan", "step outer"]


def test_test_tells_verdict_deed_layer_and_rule(perdure, work, own):
    own("network = ['example.com', 'b']")
    deeds = ["write src/a", "write src/ci/a", "write b", "connect example.com", "connect b", "run git log 'a b'", "run git push", "read a b", "use x", "call m.s irreversible"]  # fmt: skip
    done = perdure("policy", "test", "plan.yaml", "--step", "edit", *deeds, cwd=work)
    assert done.returncode == 1
    assert [(row[0], row[2]) for row in rows(done)] == [
        ("allow", "the plan"), ("ask", "the plan"), ("deny", "the plan"), ("allow", "step outer"), ("deny", "step outer"), ("allow", "the plan"),
        ("deny", "the plan"), ("allow", ""), ("allow", ""), ("ask", "the plan"),
    ]  # fmt: skip
    assert rows(done)[5][1] == "run git log a b"
    assert rows(done)[6][3] == "run git push is denied by git push *"


@pytest.mark.parametrize(
    ("deed", "code"), [("read a", 0), ("write src/ci/a", 4), ("write b", 1), ("read ../a", 1), ("run", 1), ("call", 1)]
)
def test_the_exit_code_is_that_of_the_strictest(perdure, work, deed, code):
    assert perdure("policy", "test", "plan.yaml", "read a", deed, cwd=work).returncode == code


def test_test_as_json(perdure, work):
    done = perdure("policy", "test", "--json", "plan.yaml", "run git push", cwd=work)
    [found] = json.loads(done.stdout)["judgements"]
    assert found["deed"] == {"kind": "run", "what": "git", "words": ["git", "push"]}
    assert (found["verdict"], found["by"]) == ("deny", "the plan")


def test_a_tool_that_is_known_has_its_own_effects(perdure, work):
    (work / "shop.py").write_text("""
from perdure import tool

@tool(name="shop.order", effects=["irreversible"])
def order(item: str) -> str:
    return item
""")
    ask = ("policy", "test", "plan.yaml", "call shop.order")
    assert perdure(*ask, cwd=work).returncode == 0, "nobody knows what it does"
    assert perdure(*ask, "--tools", "shop", cwd=work).returncode == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["test", "plan.yaml", "wriet a"], 'did you mean "write"'),
        (["test", "plan.yaml", "--step", "lok", "read a"], 'did you mean "look"'),
        (["test", "plan.yaml", "run 'a"], "split into words"),
        (["test", "plan.yaml"], "DEED"),
        (["show", "--step", "look"], "belongs to a plan"),
    ],
)
def test_what_cannot_be_meant_is_a_matter_of_usage(perdure, work, words, told):
    done = perdure("policy", *words, cwd=work)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_plan_that_cannot_be_used_is_told(perdure, work):
    (work / "plan.yaml").write_text("perdure: 1\npolicy: {network: ['http://a']}\nsteps: [{id: a, tool: a.b}]\n")
    done = perdure("policy", "show", "plan.yaml", cwd=work)
    assert done.returncode == 6
    assert "PRD1414" in done.stderr


@pytest.mark.parametrize("words", [["policy", "show"], ["policy", "test", "plan.yaml", "read a"], ["config", "show"]])
def test_a_broken_policy_is_told_and_nothing_is_judged(perdure, work, own, words):
    own("netwrok = []")
    done = perdure(*words, cwd=work)
    assert done.returncode == 6
    assert "error PRD1706" in done.stderr
    assert 'did you mean "network"' in done.stderr
    assert "allow" not in done.stdout
    own("", mode=0o666)
    assert "error PRD1705" in perdure(*words, cwd=work).stderr


def test_nothing_hidden_reaches_the_terminal(perdure, work):
    done = perdure("policy", "test", "plan.yaml", "call \x1b]0;x\x07", "run echo \u202etxt", cwd=work)
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)


def test_config_show_has_the_policy_in_force(perdure, work, own):
    shown = rows(perdure("config", "show", "--origin", cwd=work))
    assert ("policy.network", "[]", "default") in shown
    assert ("policy.sandbox", '{"tier": "bwrap", "binds": []}', "default") in shown
    file = own("ask = ['writes']\n[sandbox]\ntier = 'none'")
    shown = rows(perdure("config", "show", "--origin", cwd=work))
    assert ("policy.ask", '["writes"]', str(file)) in shown
    assert ("policy.commands", '{"ask": [["*"]]}', str(file)) in shown
    found = json.loads(perdure("config", "show", "--json", cwd=work).stdout)["policy"]
    assert (found["origin"], found["rules"]["sandbox"]["tier"]) == (str(file), "none")


def test_a_refused_policy_hides_no_settings(perdure, work, own):
    own("netwrok = []")
    done = perdure("config", "show", cwd=work)
    assert ("limits.run", "64") in rows(done)
    found = json.loads(perdure("config", "show", "--json", cwd=work).stdout)
    assert found["policy"]["origin"] == "refused"
    assert "netwrok" in found["policy"]["error"]
