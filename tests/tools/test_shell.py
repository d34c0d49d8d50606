"""E6 M5: `shell.run` and `python.run`: results, failures, policy, approvals, crashes and undoing."""

import asyncio
import random
import signal
import subprocess
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import unprivileged

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.hands import Hands
from perdure.tools.sandbox import fixes, probes


@pytest.fixture
def hands(tmp_path):
    workspace = tmp_path.resolve() / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "a.txt").write_text("one\n")
    (workspace / "src" / "b.txt").write_text("two\n")
    (workspace / ".env").write_text("KEY=hush\n")
    (tmp_path / "state").mkdir(mode=0o700)
    return Hands(workspace, tmp_path.resolve() / "state")


def attempt(tool, key="k", layers=(), **more):
    known = {name: more.pop(name) for name in ("approved", "by", "output", "seconds", "report") if name in more}
    return Attempt("r", "step", 1, 1, key, Call("tool", tool, more), layers=layers, **known)


async def do(hands, tool, **more):
    return await ToolPerformer(HANDS, hands=hands).perform(attempt(tool, **more))


def files(hands):
    return sorted(str(each.relative_to(hands.workspace)) for each in hands.workspace.rglob("*") if each.is_file())


async def test_a_command_changes_the_workspace_and_is_taken_back(hands):
    done = await do(
        hands, "shell.run", command="echo b >> a.txt; rm -r src; mkdir n; echo x > n/f; echo $PERDURE_STEP_KEY"
    )
    assert done.failure is None
    assert (done.output["code"], done.output["stdout"], done.output["sandboxed"]) == (0, "k\n", "bwrap")
    assert {each["path"] for each in done.output["changes"]} == {"a.txt", "src", "src/b.txt", "n", "n/f"}
    assert "+b\n" in done.output["diff"]
    assert files(hands) == [".env", "a.txt", "n/f"]
    undone = await do(hands, "shell.run", by="undo", output=done.output, command="x")
    assert undone.failure is None
    assert files(hands) == [".env", "a.txt", "src/b.txt"]
    assert (hands.workspace / "a.txt").read_text() == "one\n"
    assert (await do(hands, "shell.run", by="undo", output=done.output, command="x")).failure is None, "twice is once"


async def test_a_command_that_fails_is_a_failure_and_changes_nothing(hands):
    done = await do(hands, "shell.run", command=["sh", "-c", "echo bad > a.txt; echo why >&2; exit 3"])
    assert (done.exit, done.failure.kind, done.failure.message) == ("failure", "logic", "sh ended with code 3: why")
    assert (done.failure.detail["code"], done.failure.detail["stderr"]) == (3, "why\n")
    done = await do(hands, "shell.run", command=["sh", "-c", "echo bad > a.txt; exit 3"], check=False)
    assert (done.exit, done.output["code"], done.output["changes"]) == ("success", 3, [])
    assert (hands.workspace / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("script", "kind"),
    [("exit 1", "logic"), ("exit 75", "transient"), ("timeout 0.1 sleep 9", "timeout"), ("no-such-program", "invalid"),
     ("kill -KILL $$", "unavailable"), ("kill -TERM $$", "transient"), ("kill -SEGV $$", "logic")],
)  # fmt: skip
async def test_how_a_command_ends_says_what_kind_of_failure_it_is(hands, script, kind):
    assert (await do(hands, "shell.run", command=["sh", "-c", script])).failure.kind == kind


async def test_what_is_not_to_be_kept_is_not(hands):
    done = await do(hands, "shell.run", command=["sh", "-c", "echo bad > a.txt; cat a.txt"], keep=False)
    assert (done.output["stdout"], done.output["changes"]) == ("bad\n", [])
    assert (hands.workspace / "a.txt").read_text() == "one\n"


async def test_arguments_reach_it(hands):
    done = await do(hands, "shell.run", command=["sh", "-c", "cat; echo $X"], stdin="in\n", env={"X": "y z"})
    assert done.output["stdout"] == "in\ny z\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": ["-rf", "/"]}, "is no program"),
        ({"command": [""]}, "is no program"),
        ({"command": ["a\0b"]}, "NUL"),
        ({"command": ["env"], "env": {"A B": "x"}}, "is no name of a variable"),
        ({"command": []}, "command"),
        ({"command": ["no-such-program"]}, "is not there in the sandbox"),
    ],
)
async def test_calls_that_make_no_sense_say_so(hands, arguments, message):
    done = await do(hands, "shell.run", **arguments)
    assert message in done.failure.message


async def test_a_command_that_takes_too_long_is_ended_with_its_words_kept(hands):
    done = await do(hands, "shell.run", command=["sh", "-c", "echo so far; sleep 60"], seconds=2.0)
    assert (done.failure.kind, done.failure.detail["stdout"]) == ("timeout", "so far\n")


async def test_its_lines_are_heard(hands):
    heard = []
    await do(
        hands,
        "shell.run",
        command=["sh", "-c", "echo one; sleep 0.5; echo two"],
        report=lambda *told: heard.append(told),
    )
    assert [line for _, line in heard] == ["one", "two"]


# ------------------------------------------------------------------ rules


async def test_commands_are_judged_before_they_run(hands):
    rules = (Layer("user", commands=Terms(allow=(("echo", "*"),))),)
    assert (await do(hands, "shell.run", layers=rules, command=["echo", "hi"])).output["stdout"] == "hi\n"
    for command in (["touch", "x"], "echo hi", "echo hi; touch x", ["bash", "-c", "echo hi"]):
        done = await do(hands, "shell.run", layers=rules, command=command)
        assert done.failure.kind == "denied"
    done = await do(hands, "python.run", layers=rules, code="print(1)")
    assert done.failure.kind == "denied"


async def test_what_it_writes_is_judged_and_all_of_it_refused(hands):
    rules = (Layer("plan", files_write=Terms(allow=("src/**",))),)
    done = await do(hands, "shell.run", layers=rules, command="echo x > src/new; echo y > a.txt")
    assert done.failure.kind == "denied"
    assert "a.txt" in done.failure.message
    assert files(hands) == [".env", "a.txt", "src/b.txt"]
    assert (await do(hands, "shell.run", key="k2", layers=rules, command="echo x > src/new")).failure is None


@pytest.mark.parametrize(
    "script",
    [
        "mkdir .git; echo x > .git/config",
        "ln -s /etc/passwd out",
        "ln -s ../.. up",
        "cp /bin/true s; chmod u+s s",
    ],
)
async def test_what_no_tool_may_make(hands, script):
    done = await do(hands, "shell.run", command=script)
    assert done.failure.kind == "denied", done.output
    assert files(hands) == [".env", "a.txt", "src/b.txt"]


@pytest.mark.parametrize(
    "name", [".claude/settings.json", ".vscode/tasks.json", ".github/workflows/x.yml", "perdure.toml"]
)
async def test_settings_that_were_not_there_are_asked_about(hands, name):
    """A file that does not exist yet is protected like one that does."""
    done = await do(hands, "shell.run", command=f"mkdir -p $(dirname {name}); echo x > {name}")
    assert done.approval is not None
    assert files(hands) == [".env", "a.txt", "src/b.txt"]


async def test_what_may_not_be_read_is_not_seen(hands):
    rules = (Layer("plan", files_read=Terms(deny=("src/**",))),)
    done = await do(hands, "shell.run", layers=rules, command="cat a.txt .env src/b.txt", check=False)
    assert done.output["stdout"] == "one\n"
    named = (Layer("user", files_read=Terms(allow=("**", ".env"))),)
    done = await do(hands, "shell.run", key="k2", layers=named, command="cat .env")
    assert done.output["stdout"] == "KEY=hush\n"


@pytest.mark.parametrize("tier", ["landlock", "none"])
async def test_in_a_lower_tier_it_says_so(hands, tier):
    lower = Hands(hands.workspace, hands.state, tier)
    done = await do(lower, "shell.run", command="cat .env; echo x >> a.txt", check=False, keep=False)
    assert "hush" not in done.output["stdout"]
    done = await do(lower, "shell.run", key="k2", command="echo x >> a.txt; echo t > $TMPDIR/t")
    assert (done.failure, done.output["sandboxed"], done.output["staging"], done.sandboxed) == (
        None,
        tier,
        "copy",
        tier,
    )
    assert (hands.workspace / "a.txt").read_text() == "one\nx\n"
    assert files(hands) == [".env", "a.txt", "src/b.txt"]


@pytest.mark.parametrize("tier", ["bwrap", "landlock", "none"])
async def test_the_outcome_says_in_which_tier_whatever_becomes_of_it(hands, tier):
    lower, told = Hands(hands.workspace, hands.state, tier), "" if tier == "bwrap" else tier
    kept, denied = (
        (Layer("you", commands=Terms(deny=(("cat", "*"),))),),
        (Layer("you", files_write=Terms(ask=("**",))),),
    )
    assert (await do(lower, "shell.run", command=["false"])).sandboxed == told
    assert (await do(lower, "shell.run", key="k2", command=["sleep", "9"], seconds=0.3)).sandboxed == told
    assert (await do(lower, "python.run", key="k3", code="result = 1")).sandboxed == told
    assert (await do(lower, "shell.run", key="k4", command=["cat", "a.txt"], layers=kept)).sandboxed == "", (
        "nothing ran"
    )
    for _ in range(2):  # it is asked about; the second time what was found is asked about, and nothing is run
        asked = await do(lower, "shell.run", key="k5", command=["touch", "new"], layers=denied)
        assert (asked.approval is not None, asked.sandboxed) == (True, told)


async def test_without_a_fence_hosts_are_judged_and_the_machine_s_network_is_used(hands, page):
    lower, words = Hands(hands.workspace, hands.state, "none"), ["python3", "-c", GET, f"http://127.0.0.1:{page}/"]
    rules = (Layer("you", network=Terms(allow=(f"127.0.0.1:{page}",))),)
    done = await do(lower, "shell.run", command=words, network=[f"127.0.0.1:{page}"], layers=rules)
    assert done.output["stdout"] == "hello from outside\n", done
    done = await do(lower, "shell.run", key="k2", command=words, network=["example.com:443"], layers=rules)
    assert done.failure.kind == "denied"


async def test_without_a_sandbox_nothing_is_run(hands, monkeypatch):
    monkeypatch.setattr(fixes, "BWRAP", "/nowhere/bwrap")
    monkeypatch.setattr(probes, "_kept", {})
    done = await do(hands, "shell.run", command="touch x")
    assert done.failure.kind == "unavailable"
    assert "PRD5101" in done.failure.message
    assert "apt install bubblewrap" in done.failure.message
    assert files(hands) == [".env", "a.txt", "src/b.txt"]


# ------------------------------------------------------------------ approvals and crashes


async def test_whoever_agrees_gets_what_was_shown(hands):
    """The command is not run a second time: what it would do then could be something else."""
    rules = (Layer("user", files_write=Terms(ask=("**",))),)
    asked = await do(hands, "shell.run", layers=rules, command="date +%s%N >> a.txt")
    assert asked.approval is not None
    assert (hands.workspace / "a.txt").read_text() == "one\n"
    again = await do(hands, "shell.run", layers=rules, command="date +%s%N >> a.txt")
    assert again.approval == asked.approval
    done = await do(
        hands, "shell.run", layers=rules, command="date +%s%N >> a.txt", approved=frozenset([asked.approval.digest])
    )
    assert done.failure is None
    assert (hands.workspace / "a.txt").read_text().splitlines()[1] in asked.approval.text


async def test_after_a_conflict_it_is_run_again(hands):
    rules = (Layer("user", files_write=Terms(ask=("**",))),)
    asked = await do(hands, "shell.run", layers=rules, command="echo two >> a.txt")
    (hands.workspace / "a.txt").write_text("theirs\n")
    agreed = frozenset([asked.approval.digest])
    done = await do(hands, "shell.run", layers=rules, command="echo two >> a.txt", approved=agreed)
    assert done.failure.kind == "logic"
    assert (hands.workspace / "a.txt").read_text() == "theirs\n"
    asked = await do(hands, "shell.run", layers=rules, command="echo two >> a.txt")
    assert "theirs" in asked.approval.text


async def test_cancelled_it_leaves_nothing(hands):
    task = asyncio.create_task(do(hands, "shell.run", command="echo x > a.txt; sleep 60"))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (hands.workspace / "a.txt").read_text() == "one\n"
    assert list((hands.state / "stages").iterdir()) == []


@pytest.mark.campaign("kills of an engine whose command changes files", "I2 I9", of="kills")
@pytest.mark.parametrize("user", unprivileged.users())
def test_an_engine_that_is_killed_leaves_all_or_nothing(user, trials):
    """Killed at any moment, called again: every file is changed once, and no process is left."""
    with unprivileged.a_place(user) as place:
        keys = []
        for seed in trials(4):
            key, draw = f"key{seed}", random.Random(f"shell {user} {seed}")
            keys.append(key)
            engine = unprivileged.popen(user, "shell_victim.py", str(place), key, stdout=subprocess.PIPE)
            engine.stdout.readline()
            time.sleep(draw.uniform(0, 0.6))
            engine.send_signal(signal.SIGKILL)
            engine.wait()
            engine.stdout.close()
            unprivileged.start(user, "shell_victim.py", str(place), key)
            lines = {each.read_text() for each in (place / "ws").glob("f*")}
            assert lines == {"".join(f"{each}\n" for each in keys)}, "once, everywhere"
        assert list((place / "state" / "stages").iterdir()) == []


# ------------------------------------------------------------------ network


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from outside")

    def log_message(self, *_):
        pass


@pytest.fixture
def page():
    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


GET = "import sys, urllib.request as r\nprint(r.urlopen(sys.argv[1], timeout=10).read().decode())"


async def test_hosts_that_are_named_and_allowed_are_reached(hands, page):
    rules = (Layer("user", network=Terms(allow=(f"127.0.0.1:{page}",))),)
    url = f"http://127.0.0.1:{page}/"
    env = {"NO_PROXY": "", "no_proxy": ""}
    words = {"command": ["python3", "-c", GET, url], "env": env, "layers": rules, "check": False}
    done = await do(hands, "shell.run", network=[f"127.0.0.1:{page}"], **words)
    assert done.output["stdout"] == "hello from outside\n", done
    done = await do(hands, "shell.run", key="k2", **words)
    assert done.output["code"] == 1, "nothing is named"
    done = await do(hands, "shell.run", key="k3", network=["example.com:443"], **words)
    assert done.failure.kind == "denied"
    both = (Layer("user", network=Terms(allow=(f"127.0.0.1:{page}", "example.com:443"))),)
    done = await do(hands, "shell.run", key="k4", network=["example.com:443"], **{**words, "layers": both})
    assert done.output["code"] == 1, "another one is named"
    assert "403" in done.output["stderr"]
    assert any(each.verdict == "deny" for each in done.judged)


def test_with_network_it_is_not_repeated_blindly():
    [shell] = [each for each in HANDS if each.name == "shell.run"]
    assert shell.repeat_of({"command": ["true"]}) == "safe"
    assert shell.repeat_of({"command": ["true"], "network": []}) == "safe"
    assert shell.repeat_of({"command": ["true"], "network": ["example.com"]}) == "never"


# ------------------------------------------------------------------ Python


async def test_code_has_inputs_a_result_and_words(hands):
    code = (
        "print('hi')\nopen('out.txt', 'w').write(inputs['text'])\nresult = {'n': len(inputs['text']), 'l': [None, 1.5]}"
    )
    done = await do(hands, "python.run", code=code, inputs={"text": "é"})
    assert (done.failure, done.output["result"], done.output["stdout"]) == (None, {"n": 1, "l": [None, 1.5]}, "hi\n")
    assert (hands.workspace / "out.txt").read_text() == "é"
    assert (await do(hands, "python.run", key="k2", code="pass")).output["result"] is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("x = (", "SyntaxError"),
        ("import sys; sys.exit(4)", "the code ended with code 4"),
        ("result = {1, 2}", "result is not JSON"),
        ("result = float('nan')", "result is not JSON"),
        (
            "import os\nfor n in range(3, 99):\n  try: os.write(n, b'{')\n  except OSError: pass",
            "the result is not JSON",
        ),
        ("result = 'x' * 2_000_000", "the result is larger"),
        ("import pydantic", "No module named 'pydantic'"),
    ],
)
async def test_code_that_fails_says_why_and_changes_nothing(hands, code, message):
    done = await do(hands, "python.run", code=f"open('x', 'w')\n{code}")
    assert message in done.failure.message
    assert "starter.py" not in done.failure.message
    assert files(hands) == [".env", "a.txt", "src/b.txt"]


async def test_code_is_kept_in(hands, monkeypatch):
    monkeypatch.setenv("API_KEY", "hush")
    code = """
import os, socket
from pathlib import Path
result = {"env": "hush" in str(dict(os.environ)), "home": Path.home().as_posix(), "path": os.getcwd()}
try: socket.create_connection(("127.0.0.1", 22), 1); result["net"] = True
except OSError: result["net"] = False
"""
    done = await do(hands, "python.run", code=code)
    assert done.output["result"] == {
        "env": False,
        "home": "/tmp/home",  # noqa: S108  inside
        "path": str(Path(hands.workspace)),
        "net": False,
    }
