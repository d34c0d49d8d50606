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
    names = set(done.stderr.splitlines())
    return names | {name.split(".")[0] for name in names}


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


def test_a_plan_that_needs_no_agent_and_no_model_loads_none(tmp_path):
    (tmp_path / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: flow.echo, with: {value: 1}}]")
    code = f"""
import os
os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = {str(tmp_path)!r}
from perdure.cli import cli
try: cli(["run", {str(tmp_path / "plan.yaml")!r}, "--db", {str(tmp_path / "runs.db")!r}])
except SystemExit as left: assert not left.code, left.code
"""
    found = modules_after(code)
    assert "perdure.engine" in found
    assert found & {"perdure.agents", "perdure.models", "pydantic_ai"} == set()


def test_reading_a_plan_of_plain_paths_does_not_start_cel():
    code = "from perdure import Plan\nPlan.from_steps([{'label': 'a', 'agent_key': 'b'}])"
    assert "cel_expr_python" not in modules_after(code)


def test_an_engine_loads_nothing_that_a_killed_run_does_not_need_to_go_on():
    found = modules_after("import perdure.engine")
    rooms = {
        f"perdure.{each}"
        for each in ("cli", "plan.reading", "plan.drawing", "plan.edits", "plan.expr.cel", "plan.visible")
    }
    others = {"rich", "yaml", "click", "cel_expr_python", "jsonschema_rs", "difflib", "multiprocessing", "http"}
    assert found & (rooms | others) == set()


def test_an_engine_builds_no_validator_before_somebody_needs_it():
    modules_after("""
import perdure.engine
from perdure.plan.model import edits, parts, steps
rooms = [vars(room).values() for room in (parts, steps, edits)]
models = [each for room in rooms for each in room if isinstance(each, type) and issubclass(each, parts.Part)]
assert len(models) > 20
assert [each.__name__ for each in models if each.__pydantic_complete__] == []
""")


def test_a_kept_plan_comes_back_without_the_validators_of_all_plans():
    modules_after("""
from perdure.plan.model.document import Plan
from perdure.plan.model.recalling import recalled
from perdure.plan.model.steps import STEP_TYPES
found = recalled(b'{"perdure":1,"steps":[{"id":"a","kind":"tool","retry":{"attempts":2},"tool":"a.b"}]}')
assert found.steps[0].retry.attempts == 2 and found.hash
assert not any(each.__pydantic_complete__ for each in (Plan, *STEP_TYPES.values()))
""")


def test_tools_that_nobody_uses_have_no_schemas():
    modules_after("""
from perdure.plan.checks import check
from perdure.plan.model.recalling import recalled
from perdure.tools import BUILTIN, toolbox_of
plan = recalled(b'{"perdure":1,"steps":[{"id":"a","kind":"tool","tool":"text.upper","with":{"text":"x"}}]}')
assert not check(plan, toolbox_of(BUILTIN))
assert [each.name for each in BUILTIN if "model" in vars(each.signature)] == ["text.upper"]
""")


def test_a_run_that_asks_no_model_loads_no_provider(tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"perdure": 1, "steps": [{"id": "a", "tool": "text.upper", "with": {"text": "x"}}]}')
    found = modules_after(f"""
import os
os.environ.update(HOME={str(tmp_path)!r}, PERDURE_MODEL="openai:gpt-5-mini")
os.chdir({str(tmp_path)!r})
from perdure.cli import cli
try: cli(["run", {str(plan)!r}, "--db", "runs.db"])
except SystemExit as end: assert end.code == 0, end.code
""")
    assert found & {"pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2", "perdure.models.provider"} == set()


def test_agents_of_another_framework_load_it_and_others_do_not():
    assert "pydantic_ai" not in modules_after("from perdure.agents import Agent, Roster\nRoster([Agent(name='a')])")
    assert "pydantic_ai" in modules_after("import perdure.agents.adapted")


def test_the_public_names_are_there():
    import perdure

    assert all(getattr(perdure, name) is not None for name in perdure.__all__)
    with pytest.raises(AttributeError):
        _ = perdure.nothing
