"""What `shell.run` reads of the files that a command has left: `collect`."""

import pytest

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.hands import Hands
from perdure.tools.sandbox import collecting, probes

REPORT = "mkdir -p out; echo '<ok/>' > out/report.xml; "


@pytest.fixture(params=["overlay", "copy", "landlock", "none"])
def hands(request, tmp_path, monkeypatch):
    """A workspace, for each way in which a stage can be made."""
    workspace = tmp_path.resolve() / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "old.txt").write_text("not yours\n")
    (workspace / "src" / "app.py").write_text("pass\n")
    (workspace / ".env").write_text("KEY=hush\n")
    (tmp_path / "state").mkdir(mode=0o700)
    tier = request.param if request.param in ("landlock", "none") else "bwrap"
    if request.param == "copy":
        monkeypatch.setattr(probes, "_kept", {probes._about("bwrap"): probes.Report("bwrap", "copy")})
    return Hands(workspace, tmp_path.resolve() / "state", tier)


async def do(hands, command, collect, key="k", layers=(), **more):
    call = Call("tool", "shell.run", {"command": command, "collect": collect, **more})
    known = {name: call.arguments.pop(name) for name in ("approved",) if name in call.arguments}
    return await ToolPerformer(HANDS, hands=hands).perform(Attempt("r", "s", 1, 1, key, call, layers=layers, **known))


async def test_a_file_is_read_whatever_the_code_and_whether_or_not_changes_are_kept(hands, request):
    for n, (end, more) in enumerate([("exit 1", {}), ("true", {"keep": False}), ("true", {})]):
        done = await do(hands, REPORT + end, ["out/report.xml"], key=f"k{n}", check=False, **more)
        assert done.failure is None
        assert done.output["collected"] == {"out/report.xml": "<ok/>\n"}
        assert "uncollected" not in done.output
        assert (hands.workspace / "out").exists() == (n == 2)
    assert done.output["staging"] == ("overlay" if "overlay" in request.node.name else "copy")


async def test_only_what_the_command_has_written_is_read(hands):
    (hands.workspace / "gone.txt").write_text("x")
    script = "cat old.txt; rm gone.txt; echo new >> src/app.py"
    done = await do(hands, script, ["old.txt", "src/app.py", "gone.txt", "nowhere/x", "src", "**"], keep=False)
    assert done.output["collected"] == {"src/app.py": "pass\nnew\n"}
    assert done.output.get("uncollected", {}).keys() <= {"src"}, (
        "a directory is no file; one that was not touched is not there"
    )


async def test_patterns_find_files_at_any_depth_each_once(hands):
    script = "mkdir -p a/b a/.cache; for each in a/1.xml a/b/2.xml a/b/3.txt a/.cache/4.xml 0.xml; do echo $each > $each; done"
    done = await do(hands, script, ["a/b/2.xml", "**/*.xml", "a/*.xml"], keep=False)
    assert list(done.output["collected"]) == ["a/b/2.xml", "0.xml", "a/1.xml", "a/.cache/4.xml"]
    done = await do(hands, script, ["a/*.xml"], key="k2", keep=False)
    assert list(done.output["collected"]) == ["a/1.xml"]


async def test_nothing_wanted_gives_nothing_and_nothing_found_an_empty_object(hands):
    assert "collected" not in (await do(hands, REPORT, [], keep=False)).output
    assert (await do(hands, "true", ["out/report.xml", "*.xml"], key="k2")).output["collected"] == {}


async def test_links_pipes_and_directories_are_not_read(hands):
    script = "ln -s /etc/passwd a; ln -s old.txt b; ln -s src c; mkfifo d; mkdir e; ln -s . f"
    wanted = ["a", "b", "c/app.py", "d", "e", "f/a", "*", "f/**"]
    done = await do(hands, script, wanted, keep=False)
    assert done.output["collected"] == {}
    told = done.output["uncollected"]
    assert told.keys() == {"a", "b", "c/app.py", "d", "e", "f/a"}
    assert told["a"] == "it is no plain file; links are not followed"
    assert "leads through a link" in told["c/app.py"]


async def test_what_the_policy_does_not_let_be_read_is_not_collected(hands):
    rules = (Layer("plan", files_read=Terms(deny=("private/**",))),)
    script = "mkdir private; echo x > private/a; echo y > .env.local; echo z > b"
    done = await do(hands, script, ["private/a", ".env.local", "b", "**/*"], layers=rules, keep=False)
    assert done.output["collected"] == {"b": "z\n"}
    assert done.output["uncollected"] == dict.fromkeys(["private/a", ".env.local"], "it may not be read")
    assert "hush" not in str(done.output)


async def test_what_is_hidden_from_the_command_is_not_collected_for_it(hands):
    done = await do(
        hands, "cp .env copy; touch .env; mv .env moved; ln .env linked", [".env", "*"], keep=False, check=False
    )
    assert "hush" not in str(done.output)


async def test_of_large_files_the_beginning_is_read_and_that_is_told(hands):
    mega = collecting.LARGEST
    script = "truncate -s 900M huge; printf %1000s > small; for n in 1 2 3 4; do head -c 1500000 /dev/zero > n$n; done"
    done = await do(
        hands, f"{script}; head -c {mega} /dev/zero > fits", ["huge", "small", "fits", "n1", "*"], keep=False
    )
    lengths = {path: len(text) for path, text in done.output["collected"].items()}
    assert lengths == {"huge": mega, "small": 1000, "fits": mega, "n1": mega, "n2": mega - 1000}
    told = done.output["uncollected"]
    assert told["huge"] == "only its first 1,048,576 bytes were read"
    assert told["n2"] == "only its first 1,047,576 bytes were read"
    assert told["n3"] == "4,194,304 bytes are the most of all together"
    assert told.keys() == {"huge", "n1", "n2", "n3", "n4"}


async def test_many_files_are_bounded(hands):
    done = await do(hands, "for n in $(seq 1000 1300); do echo > $n; done", ["*"], keep=False)
    assert len(done.output["collected"]) == collecting.MOST
    assert done.output["uncollected"] == {"1200": "200 files are the most"}


async def test_texts_are_utf_8_with_what_is_none_replaced(hands):
    script = r"printf 'caf\303\251 \377\n' > a; (head -c 1048575 /dev/zero | tr '\0' x; printf '\303\251') > b"
    done = await do(hands, script, ["a", "b"], keep=False)
    assert done.output["collected"]["a"] == "café \N{REPLACEMENT CHARACTER}\n"
    assert done.output["collected"]["b"] == "x" * 1_048_575, "half a letter is none"


@pytest.mark.usefixtures("mere_user")
async def test_a_file_that_cannot_be_opened_is_told(hands):
    script = "echo x > a; chmod 000 a; mkdir d; echo y > d/b; chmod 000 d"
    done = await do(hands, script, ["a", "d/b", "*"], keep=False)
    assert done.output["collected"] == {}
    assert done.output["uncollected"] == dict.fromkeys(["a", "d/b"], "the command has left it unreadable")


@pytest.mark.usefixtures("mere_user")
async def test_a_workspace_that_the_command_has_shut_is_told(hands):
    done = await do(hands, "echo x > a; chmod 000 .", ["a", "*"], keep=False)
    assert done.output["uncollected"] == dict.fromkeys(["a", "*"], "the command has left it unreadable")


async def test_names_that_lie_deeper_than_is_looked_are_told(hands):
    deep = "/".join(["d"] * 70)
    done = await do(hands, f"mkdir -p {deep}; echo x > {deep}/a.xml; echo y > b.xml", ["**/*.xml"], keep=False)
    assert done.output["collected"] == {"b.xml": "y\n"}
    assert done.output["uncollected"] == {"**/*.xml": "there were more names than are looked at"}


@pytest.mark.parametrize("path", ["../up.xml", "/tmp/report.xml", "a//b", "./a", "a\0b", "a\nb"])  # noqa: S108  it is refused
async def test_a_path_out_of_the_workspace_is_refused_before_anything_runs(hands, path):
    done = await do(hands, "touch ran", [path])
    assert (done.failure.kind, done.failure.message.split(":")[0]) == ("invalid", "collect")
    assert not (hands.workspace / "ran").exists()


async def test_more_than_twenty_are_refused(hands):
    assert (await do(hands, "true", ["a"] * 21)).failure.kind == "invalid"


async def test_what_was_found_before_a_question_or_a_crash_is_given_again(hands):
    """The command is not run a second time, so what it wrote is that of its one run."""
    rules = (Layer("you", files_write=Terms(ask=("**",))),)
    script = "date +%s%N | tee stamp when"
    asked = await do(hands, script, ["stamp"], layers=rules)
    done = await do(hands, script, ["stamp"], layers=rules, approved=frozenset([asked.approval.digest]))
    assert done.output["collected"] == {"stamp": done.output["stdout"]}
    assert done.output["stdout"] in asked.approval.text.replace("+", "")
    assert (hands.workspace / "when").read_text() == done.output["stdout"]
