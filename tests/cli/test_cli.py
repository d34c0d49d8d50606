"""E16: the command line: data on standard output, the rest on standard error, exit codes that mean something."""

import json
import os
import pty
import select
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from perdure.cli import COMMANDS, SECTIONS, cli
from perdure.cli.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
PLANS = ROOT / "examples" / "plans"
BROKEN = ROOT / "examples" / "broken" / "release.yaml"


def perdure(*words, stdin=None, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "perdure", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        input=stdin,
        cwd=cwd,
    )


def on_a_terminal(*words):
    """What a person sees: the program's output on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-m", "perdure", *map(str, words)], stdout=theirs, stderr=theirs, env=env
    ) as child:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
        child.wait(30)
    os.close(ours)
    return shown.decode()


def test_check_says_ok_and_measures():
    done = perdure("check", PLANS / "release.yaml")
    assert (done.returncode, done.stdout) == (0, "")
    assert "release.yaml: ok: 9 steps" in done.stderr


def test_check_prints_a_line_for_each_problem():
    done = perdure("check", BROKEN)
    lines = done.stdout.splitlines()
    assert done.returncode == 6
    assert len(lines) == 5
    assert lines[0].startswith(f"{BROKEN}:7:")
    assert "error PRD1101: steps[0].taks" in lines[0]
    assert 'did you mean "task"' in lines[0]


def test_check_on_a_terminal_prints_blocks():
    shown = on_a_terminal("--no-color", "check", BROKEN)
    assert "error PRD1101" in shown
    assert "  --> " in shown
    assert "  help: " in shown
    assert "  more: perdure explain PRD1101" in shown


def test_check_as_json():
    done = perdure("check", "--json", BROKEN, PLANS / "linear.yaml")
    document = json.loads(done.stdout)
    assert done.returncode == 6
    assert document["schema"] == "perdure.check/1"
    bad, good = document["plans"]
    assert (bad["ok"], bad["hash"]) == (False, None)
    assert bad["problems"][0] | {"hint": ""} == {
        "severity": "error",
        "code": "PRD1101",
        "message": "there is no field `taks` here",
        "path": "steps[0].taks",
        "hint": "",
        "file": str(BROKEN),
        "line": 7,
        "column": 36,
    }
    assert good["ok"]
    assert good["hash"].startswith("sha256-jcs-v1:")
    assert good["measures"]["steps"] == 4


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["run", "--json", BROKEN], 6, "PRD1000"),
        (["show", "r_1", "--json", "--db", "nowhere.db"], 3, "PRD2104"),
        (["run", "--json", "--nonsense", BROKEN], 2, None),
        (["nonsense", "--json"], 2, None),
    ],
)
def test_every_error_as_json_is_one_object_of_one_form_on_standard_error(words, code, error):
    done = perdure(*words)
    told = json.loads(done.stderr)
    assert (done.returncode, done.stdout, told["schema"], told["code"]) == (code, "", "perdure.error/1", error), told
    assert {"message", "path", "hint", "docs"} <= told.keys()
    assert told["docs"] == (f"perdure explain {error}" if error else None)
    assert [each["code"] for each in told.get("problems", ())][:1] == (["PRD1101"] if error == "PRD1000" else [])


def test_check_reads_standard_input():
    done = perdure("check", "-", stdin='{"steps": [{"id": "a", "tool": "x.y", "on": {"failure": "b"}}]}')
    assert done.returncode == 6
    assert done.stdout.startswith("<stdin>:1:57: error PRD1301")


def test_check_of_a_missing_file():
    done = perdure("check", "nowhere.yaml")
    assert done.returncode == 3
    assert "PRD1001" in done.stdout


def test_check_strict_takes_warnings_for_errors(tmp_path):
    old = tmp_path / "old.yaml"
    old.write_text("- {label: a, agent_key: code_agent}\n- {label: end}\n")
    assert perdure("check", old).returncode == 0
    assert perdure("check", "--strict", old).returncode == 6


def test_check_against_a_toolbox(tmp_path):
    toolbox = tmp_path / "toolbox.json"
    toolbox.write_text('{"tools": ["http.get"], "agents": ["code"]}')
    done = perdure("check", "--toolbox", toolbox, "-", stdin="steps: [{id: a, tool: http.gte}, {id: b, agent: coda}]")
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["PRD1401:", "PRD1402:"]
    toolbox.write_text("{")
    done = perdure("check", "--toolbox", toolbox, PLANS / "linear.yaml")
    assert done.returncode == 6
    assert "PRD1412" in done.stderr
    assert "Traceback" not in done.stderr
    assert perdure("check", "--toolbox", tmp_path / "nowhere", PLANS / "linear.yaml").returncode == 3
    toolbox.write_text("[" * 100_000)
    done = perdure("check", "--json", "--toolbox", toolbox, PLANS / "linear.yaml")
    assert json.loads(done.stderr)["code"] == "PRD1412"


@pytest.mark.parametrize(
    ("option", "limit", "text"),
    [
        ("--max-steps", "1", "steps: [{id: a, tool: x.y}, {id: b, tool: x.y}]"),
        ("--max-depth", "1", "steps: [{id: g, steps: [{id: a, tool: x.y}]}]"),
        ("--max-bytes", "10", "steps: [{id: a, tool: x.y}]"),
    ],
)
def test_limits_refuse_with_a_sentence(option, limit, text):
    done = perdure("check", option, limit, "-", stdin=text)
    assert done.returncode == 6
    assert "PRD1004" in done.stdout


def test_draw_prints_a_tree_and_the_measures():
    done = perdure("draw", PLANS / "release.yaml")
    assert done.returncode == 0
    assert "fetch" in done.stdout
    assert "9 steps" in done.stdout
    assert "\x1b" not in done.stdout
    assert "fetch" in on_a_terminal("draw", PLANS / "release.yaml")


def test_draw_other_forms(tmp_path):
    done = perdure("draw", PLANS / "release.yaml", "--mermaid")
    assert done.stdout.startswith("flowchart TD")
    done = perdure("draw", PLANS / "release.yaml", "--svg", "a.svg", "--html", "a.html", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert "<html" in (tmp_path / "a.html").read_text()
    assert perdure("draw", PLANS / "release.yaml", "--svg", tmp_path / "no" / "a.svg").returncode == 2


def test_draw_of_a_broken_plan_says_why():
    done = perdure("draw", BROKEN)
    assert (done.returncode, done.stdout) == (6, "")
    assert "PRD1101" in done.stderr


def test_diff():
    done = perdure("diff", PLANS / "release.yaml", PLANS / "release_fast.yaml")
    assert done.returncode == 0
    assert "- review  was at steps[3]" in done.stdout.splitlines()
    document = json.loads(perdure("diff", "--json", PLANS / "release.yaml", PLANS / "release_fast.yaml").stdout)
    assert document["schema"] == "perdure.diff/1"
    assert list(document["added"]) == ["approve"]
    same = perdure("diff", PLANS / "linear.yaml", PLANS / "linear.yaml")
    assert (same.returncode, same.stdout) == (0, "")


def test_schema_is_json():
    assert json.loads(perdure("schema").stdout)["$id"] == "urn:perdure:plan:1"


def test_explain():
    assert perdure("explain", "PRD1203").stdout.startswith("# PRD1203")
    assert perdure("explain", "prd1203").returncode == 0
    assert perdure("explain", "PRD9999").returncode == 3
    assert "PRD1203  " in perdure("explain").stdout
    assert "PRD1203" in on_a_terminal("explain", "PRD1203")


def test_convert(tmp_path):
    old = tmp_path / "old.json"
    old.write_text('[{"label": "a", "agent_key": "code_agent", "on_fail": "a"}, {"label": "end"}]')
    done = perdure("convert", old)
    assert done.returncode == 0
    assert done.stdout.startswith("perdure: 1\nsteps:\n")
    assert "PRD1602" in done.stderr
    new = tmp_path / "new.yaml"
    assert perdure("convert", old, "-o", new).returncode == 0
    assert perdure("check", "--strict", new).returncode == 0
    as_json = json.loads(perdure("convert", "--json", new).stdout)
    assert as_json["steps"][0]["kind"] == "agent"
    assert perdure("convert", BROKEN).returncode == 6


def shell(command, cwd, **env):
    """A command in a shell of its own, with `perdure` standing for the program."""
    words = command.replace("perdure ", f"{sys.executable} -m perdure ")
    return subprocess.run(
        ["/bin/bash", "-c", words], capture_output=True, check=False, cwd=cwd, env={**os.environ, **env}
    )


@pytest.mark.parametrize(
    "command",
    [
        "perdure convert {plan} -o nowhere/x.yaml",
        "perdure convert {plan} -o .",
        "perdure draw {plan} > /dev/full",
        "perdure check --json {plan} > /dev/full",
        "perdure draw {plan} >&-",
        "perdure check - <&-",
        "perdure check /dev/zero",
        "perdure check .",
        "perdure draw {plan} | head -1",
        "perdure explain $'\\e]0;x\\a'",
    ],
)
def test_nothing_ends_in_a_traceback(command, tmp_path):
    done = shell(command.format(plan=PLANS / "release.yaml"), tmp_path)
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stderr + done.stdout


def test_file_names_are_shown_not_sent(tmp_path):
    (tmp_path / "bad\x1b]0;pwn\x07\n.yaml").write_text("steps: [{id: a, tool: x.y}]")
    (tmp_path / os.fsdecode(b"nonutf\xff.yaml")).write_text("steps: [{id: a, tool: xy}]")
    done = shell("perdure check *.yaml", tmp_path)
    assert b"\x1b" not in done.stderr + done.stdout
    document = json.loads(shell("perdure check --json *.yaml", tmp_path).stdout)
    assert [plan["ok"] for plan in document["plans"]] == [True, False]


def test_no_encoding_is_too_small(tmp_path):
    (tmp_path / "uni.yaml").write_text("goal: 東京 ✓\nsteps: [{id: a, tool: x.y}]")
    for command in ("perdure check --json uni.yaml", "perdure draw uni.yaml", "perdure convert uni.yaml"):
        assert shell(command, tmp_path, PYTHONIOENCODING="ascii").returncode == 0


def test_errors_are_data_when_data_is_asked_for():
    done = perdure("diff", "--json", BROKEN, PLANS / "linear.yaml")
    assert done.returncode == 6
    assert json.loads(done.stderr)["problems"][0]["code"] == "PRD1101"


def test_usage_errors_are_code_two_with_a_hint():
    done = perdure("chekc", "x")
    assert done.returncode == 2
    assert "Did you mean 'check'?" in done.stderr
    assert perdure("check").returncode == 2


def test_hostile_text_does_not_reach_the_terminal(tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text('steps: [{id: "a\\x1b[31m\\u202e", tool: x.y, title: "\\x1b]0;owned\\x07"}]\n')
    for words in (("check", plan), ("check", "--json", plan)):
        done = perdure(*words)
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout or words[1] == "--json"


def test_ctrl_c_ends_any_command_with_the_code_that_shells_expect(monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("perdure.cli.schema").schema, "callback", interrupted)
    done = CliRunner().invoke(cli, ["schema"])
    assert (done.exit_code, done.output) == (130, "interrupted\n")


SLIPS = """steps:
  - {id: a, tool: git.comit, with: {message: x}}
  - {id: b, tool: shell.run, with: {comand: ls}}
  - {id: c, tool: release.upload}
"""


def test_check_knows_the_tools_that_are_here_and_notes_the_others():
    done = perdure("check", "-", stdin=SLIPS)
    assert done.returncode == 6
    assert 'did you mean "git.commit"?' in done.stdout
    assert '"shell.run" has no argument "comand"' in done.stdout
    assert "PRD1401: steps[2]" not in done.stdout
    assert "not known here, and so not checked: release.upload;" in done.stderr
    elsewhere = "steps: [{id: c, tool: release.upload}]"
    done = perdure("check", "--strict", "--json", "-", stdin=elsewhere)
    assert done.returncode == 0
    assert json.loads(done.stdout)["plans"][0]["unknown_tools"] == ["release.upload"]


def test_check_with_tools_refuses_what_run_refuses(tmp_path):
    (tmp_path / "shop.py").write_text("from perdure import tool\n@tool(name='shop.order')\ndef f(n: int): ...\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text("steps: [{id: a, tool: shop.order, with: {m: 1}}, {id: c, tool: release.upload}]")
    done = shell(f"perdure check --tools shop {plan}", tmp_path)
    assert done.returncode == 6
    assert b'"shop.order" has no argument "m"' in done.stdout
    assert b'there is no tool "release.upload"' in done.stdout


def test_what_tools_ls_prints_is_a_toolbox(tmp_path):
    toolbox = tmp_path / "toolbox.json"
    toolbox.write_text(perdure("tools", "ls", "--json").stdout)
    done = perdure("check", "--toolbox", toolbox, "-", stdin=SLIPS)
    assert done.returncode == 6
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["PRD1401:", "PRD1403:", "PRD1403:", "PRD1401:"]


@pytest.mark.parametrize("tools", [[{"a": 1}], [[1]], [None], {"git.commit": 3}])
def test_a_toolbox_that_is_none_is_said_to_be_none(tmp_path, tools):
    toolbox = tmp_path / "toolbox.json"
    toolbox.write_text(json.dumps({"tools": tools}))
    done = perdure("check", "--toolbox", toolbox, PLANS / "linear.yaml")
    assert done.returncode == 6
    assert done.stderr.startswith("error PRD1412: ")


def test_every_command_stands_in_one_section_of_the_help():
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_can_be_called(example):
    """Each word is a command, an option or an argument that there is."""
    words = shlex.split(example.partition(" > ")[0])[1:]
    here = click.Context(cli)
    command: click.Command = cli
    while isinstance(command, click.Group) and words:
        command = command.get_command(here, words.pop(0))
        assert command is not None, example
    command.make_parser(click.Context(command)).parse_args(words)


def test_every_command_shows_how_it_is_called():
    assert sorted({*COMMANDS} - {*EXAMPLES}) == ["doctor"]  # there is nothing to say but its name
    said = CliRunner().invoke(cli, ["fork", "--help"], color=False).output
    assert "\n  Examples:\n    perdure fork @last\n    perdure fork @last --from build --set version=1.3\n" in said


@pytest.mark.parametrize("group", ["agents", "config", "mcp", "memory", "models", "policy", "tools"])
def test_no_line_of_a_list_of_commands_is_cut(group):
    assert "...\n" not in CliRunner().invoke(cli, [group, "--help"]).output.partition("Commands:")[2]
