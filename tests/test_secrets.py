"""Where secrets come from: the environment, and a file that nobody else can read."""

import json
import os
import sqlite3

import program
import pytest
from encodings_of import cores, forms

from perdure.config import ConfigError
from perdure.config.secrets import load_secrets

CANARY = "canary-Zq8Xv3Lw9TbN"


@pytest.fixture
def file(tmp_path):
    directory = tmp_path / ".config" / "perdure"
    directory.mkdir(parents=True)
    return directory / "secrets.toml"


def written(file, text, mode=0o600):
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)


def loaded(tmp_path, **env):
    return load_secrets({"HOME": str(tmp_path), **env})


def test_there_may_be_none(tmp_path):
    assert loaded(tmp_path) is None
    assert loaded(tmp_path, PERDURE_SECRET_EMPTY="") is None


def test_the_environment_comes_before_the_file(tmp_path, file):
    written(file, 'CANARY = "from the file"\nOTHER = "o"\n')
    env = {"PERDURE_SECRET_CANARY": "from the environment", "PERDURE_SECRETS": "no"}
    found = loaded(tmp_path, **env)
    assert found == {"CANARY": "from the environment", "OTHER": "o"}
    assert loaded(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "elsewhere")) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o610, 0o777])
def test_a_file_that_others_can_reach_is_refused(tmp_path, file, mode):
    written(file, f'CANARY = "{CANARY}"\n', mode)
    with pytest.raises(ConfigError) as refused:
        loaded(tmp_path)
    assert refused.value.code == "PRD5301"
    assert "chmod 600" in refused.value.help


@pytest.mark.parametrize(
    "text",
    [
        f'CANARY = "{CANARY}',
        f"CANARY = {CANARY}",
        "[CANARY]\na = 1",
        "CANARY = 1",
        f'"a-b" = "{CANARY}"',
        f'"" = "{CANARY}"',
        "\0",
    ],
)
def test_what_is_no_secret_is_refused_without_showing_it(tmp_path, file, text):
    written(file, text)
    with pytest.raises(ConfigError) as refused:
        loaded(tmp_path)
    assert refused.value.code == "PRD5301"
    assert CANARY not in f"{refused.value} {refused.value.help} {refused.value.__cause__}"


def test_what_is_no_file_is_refused(tmp_path, file):
    file.mkdir(mode=0o700)
    with pytest.raises(ConfigError):
        loaded(tmp_path)
    file.rmdir()
    file.symlink_to("nowhere")
    with pytest.raises(ConfigError):
        loaded(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path, file):
    written(file, f'CANARY = "{CANARY}"\n')
    os.chown(file, 65534, 65534)
    with pytest.raises(ConfigError, match="somebody else"):
        loaded(tmp_path)


TOOLS = '''
import sys
sys.path.insert(0, "SUPPORT")
import os
from encodings_of import forms
from perdure import Context, ToolFailure, tool

@tool(name="leak.all", repeat="safe", isolate=True)
def all_(given: str, context: Context) -> dict:
    """Tell it in every way there is, and see what the process was started with."""
    print(given, file=sys.stderr)
    context.log.error("sent %s", given)
    for form in forms(given).values():
        context.progress(0.5, form)
    inherited = [name for name in os.environ if "SECRET" in name]
    with open(f"/proc/{os.getpid()}/cmdline") as words:
        return {"forms": forms(given), "inherited": inherited, "words": given in words.read(), "given": len(given)}

@tool(name="leak.die", repeat="safe", isolate=True)
def die(given: str) -> None:
    """Print it at the end of a long output, and die."""
    print("\\n".join(f"line {n}: {given}" for n in range(200)), file=sys.stderr, flush=True)
    os._exit(3)
'''
PLAN = """
perdure: 1
steps:
  - {id: tell, tool: leak.all, with: {given: "${secrets.CANARY}"}}
  - {id: die, tool: leak.die, with: {given: "${secrets.CANARY}"}, on: {failure: next}}
output: ${steps.tell.output}
"""


def test_s6_the_program_shows_no_secret(tmp_path, file):
    """In what it prints, in its journal, and in what other commands print of it."""
    from pathlib import Path

    support = str(Path(program.__file__).parent)
    (tmp_path / "leaks.py").write_text(TOOLS.replace("SUPPORT", support), encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    written(file, 'OTHER = "another secret"\n')
    db = tmp_path / "runs.db"

    def perdure(*words, **env):
        return program.perdure(*words, "--db", db, home=tmp_path, **env)

    done = perdure("run", "plan.yaml", "--tools", "leaks", "--json", PERDURE_SECRET_CANARY=CANARY)
    found = json.loads(done.stdout)["output"]
    assert (found["inherited"], found["words"], found["given"]) == ([], False, len(CANARY))
    shown = [
        done.stdout,
        done.stderr,
        *(perdure(*words).stdout for words in (["show", "@last"], ["logs", "@last"], ["export", "@last"])),
    ]
    kept = [each for place in tmp_path.glob("runs.db*") for each in (place, *place.rglob("*")) if each.is_file()]
    told = "".join(shown).encode() + b"".join(each.read_bytes() for each in kept)
    assert sorted(core for core in cores(CANARY) if core.encode() in told) == []
    assert set(found["forms"]) == set(forms(CANARY))
    with sqlite3.connect(db) as journal:
        assert journal.execute("pragma integrity_check").fetchone() == ("ok",)


def test_a_bad_file_stops_the_program_before_anything_begins(tmp_path, file):
    (tmp_path / "plan.yaml").write_text(
        "perdure: 1\nsteps: [{id: a, tool: flow.echo, with: {value: 1}}]\n", encoding="utf-8"
    )
    written(file, f'CANARY = "{CANARY}"\n', 0o644)
    done = program.perdure("run", "plan.yaml", "--db", tmp_path / "runs.db", home=tmp_path)
    assert done.returncode == 6
    assert "PRD5301" in done.stderr
    assert CANARY not in done.stderr
