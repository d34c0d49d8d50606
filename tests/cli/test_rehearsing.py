"""E6: a dry run works on a copy of the workspace. However it ends, the copy does not stay."""

import signal
import subprocess
import sys
import time

import pytest
from program import clean_environment

PLAN = """
perdure: 1
steps:
  - {id: long, tool: shell.run, with: {command: "touch begun; sleep ${inputs.seconds}"}}
inputs: {seconds: {type: integer, default: 60}}
"""
PATIENCE = 60


@pytest.fixture
def rehearsal(home, tmp_path):
    """A dry run, started; its temporary files are in a place of its own."""
    temp, project = tmp_path / "temp", tmp_path / "project"
    for each in (temp, project):
        each.mkdir()
    (tmp_path / "plan.yaml").write_text(PLAN)
    (project / "secret").write_text("hush")

    def started(*more):
        words = [sys.executable, "-m", "perdure", "run", tmp_path / "plan.yaml", "--dry-run", *more]
        env = clean_environment(home, TMPDIR=str(temp))
        return subprocess.Popen(words, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    started.temp = temp
    return started


def test_who_was_started_in_the_background_can_be_asked_to_stop_too(rehearsal):
    """A shell has Ctrl-C ignored there."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = rehearsal()
    finally:
        signal.signal(signal.SIGINT, before)
    until(process, lambda: copies(rehearsal.temp))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, list(rehearsal.temp.iterdir())) == (130, [])


def copies(temp):
    return list(temp.glob("*/workspace/secret"))


def until(process, holds):
    ends = time.monotonic() + PATIENCE
    while not holds() and process.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    assert holds(), process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["copied", "at work"])
def test_who_is_asked_to_stop_takes_the_copy_along(rehearsal, number, moment):
    process = rehearsal()
    where = "*/workspace/secret" if moment == "copied" else "*/state/stages/*/upper/begun"
    until(process, lambda: list(rehearsal.temp.glob(where)))
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, list(rehearsal.temp.iterdir())) == (130, [])


def test_what_a_killed_one_left_is_removed_by_the_next(rehearsal):
    process = rehearsal()
    until(process, lambda: copies(rehearsal.temp))
    process.kill()
    process.communicate()
    assert copies(rehearsal.temp)
    process = rehearsal("-i", "seconds=0")
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, list(rehearsal.temp.iterdir())) == (0, [])


def test_no_command_runs_where_the_user_has_no_sandbox(perdure, home, tmp_path):
    """The tier asks for approval; nobody may give it on behalf of the user."""
    settings, mark = home / ".config" / "perdure", tmp_path / "escaped"
    settings.mkdir(parents=True)
    (settings / "policy.toml").write_text('[sandbox]\ntier = "none"\n')
    (settings / "policy.toml").chmod(0o600)
    (tmp_path / "plan.yaml").write_text(
        f"perdure: 1\nsteps:\n"
        f"  - {{id: go, tool: shell.run, with: {{command: [touch, {mark}]}}}}\n"
        f"  - {{id: use, tool: flow.echo, with: {{value: '${{steps.go.output.more}}'}}}}\n"
    )
    (tmp_path / "project").mkdir()
    ended = perdure("run", tmp_path / "plan.yaml", "--dry-run", cwd=tmp_path / "project")
    assert (ended.returncode, mark.exists()) == (4, False), ended.stderr
    assert ended.stdout.startswith("dry run: how it would end cannot be foreseen: use: steps.go.output.more")
    assert f"runs:\n  touch {mark}  (asks first)" in ended.stdout
    assert "  go: shell.run is not done, since not all of it would stay on the copy" in ended.stdout


@pytest.mark.parametrize(
    ("step", "policy", "hint"),
    [
        ("{id: a, model: weak, prompt: hm}", "{}", "hint: with --like RUN"),
        ("{id: a, tool: files.write, with: {path: b, text: x}}", "{files: {write: [a]}}", "hint: which rules hold"),
        ("{id: a, tool: files.write, with: {path: a, text: x}}", "{files: {write: [a]}}", ""),
    ],
)
def test_what_to_do_about_what_was_told(perdure, tmp_path, step, policy, hint):
    (tmp_path / "plan.yaml").write_text(f"perdure: 1\npolicy: {policy}\nsteps: [{step}]\n")
    lines = perdure("run", tmp_path / "plan.yaml", "--dry-run", "--workspace", tmp_path).stdout.splitlines()
    assert [line[: len(hint)] for line in lines if line.startswith("hint:")] == ([hint] if hint else [])


def test_what_came_from_outside_is_told(perdure, tmp_path):
    (tmp_path / "order.txt").write_text("b.txt")
    steps = "[{id: look, tool: files.read, with: {path: order.txt}}, {id: put, tool: files.write, with: {path: '${steps.look.output.text}', text: x}}]"
    (tmp_path / "plan.yaml").write_text(f"perdure: 1\nsteps: {steps}\n")
    done = perdure("run", tmp_path / "plan.yaml", "--dry-run", "--workspace", tmp_path)
    assert "from outside:\n  put: path comes from look (files.read read files)\n" in done.stdout
