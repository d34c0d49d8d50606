"""Starting is fast because nothing is imported that is not needed: this guards it, not a clock."""

import subprocess
import sys

import pytest

HEAVY = (
    "pydantic",
    "rich",
    "yaml",
    "cel_expr_python",
    "jsonschema_rs",
    "rfc8785",
    "asyncio",
    "email",
    "http",
    "hypothesis",
)


def modules_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in done.stderr.splitlines()}


@pytest.mark.parametrize(
    "code",
    [
        "import perdure",
        "import perdure.cli",
        "from click.testing import CliRunner\nfrom perdure.cli import cli\nassert 'draw' in CliRunner().invoke(cli, ['--help']).output",
        "from perdure.cli import cli\ntry: cli(['--version'])\nexcept SystemExit: pass",
    ],
)
def test_help_and_version_load_nothing_heavy(code):
    assert modules_after(code) & set(HEAVY) == set()


@pytest.mark.parametrize("command", ["ls", "export", "doctor", "config"])
def test_looking_at_runs_does_not_load_the_plan_model(command):
    found = modules_after(f"import perdure.cli.{command}")
    assert found & {"pydantic", "yaml", "rich", "cel_expr_python", "rfc8785"} == set()


def test_reading_a_plan_of_plain_paths_does_not_start_cel():
    code = "from perdure import Plan\nPlan.from_steps([{'label': 'a', 'agent_key': 'b'}])"
    assert "cel_expr_python" not in modules_after(code)


def test_the_public_names_are_there():
    import perdure

    assert all(getattr(perdure, name) is not None for name in perdure.__all__)
    with pytest.raises(AttributeError):
        _ = perdure.nothing
