"""E20: docs are under test. Every plan, every Python block and every command in them runs; every name is documented."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import requirements

import perdure
from perdure import check, errors
from perdure.cli import COMMANDS
from perdure.config import load
from perdure.config.settings import SETTINGS
from perdure.engine import Engine, Result, RunHandle, StepResult
from perdure.kits import coding
from perdure.plan import Plan
from perdure.plan.model.steps import STEP_TYPES
from perdure.plan.reading import read_text
from perdure.tools import BUILTIN, toolbox_of
from perdure.tools.builtin import HANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
READ = [*PAGES, *sorted(ROOT.glob("bench/*.md"))]
LINKING = [*READ, *sorted(ROOT.glob("src/perdure/errors/pages/*.md"))]
TOOLS = toolbox_of([*BUILTIN, *HANDS])
UNKNOWN_TOOL = "PRD1401"
"""Plans in the docs may call tools that are made up; what comes with Perdure is called as it wants to be called."""


def blocks(kind):
    for page in PAGES:
        for n, (info, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            if info.split()[:1] == [kind]:
                yield pytest.param(info, text, id=f"{page.relative_to(ROOT)}:{n}")


@pytest.mark.parametrize(("info", "text"), list(blocks("yaml")))
def test_every_plan_in_the_docs_is_right(info, text):
    if info != "yaml" and not info.startswith("yaml plan"):
        return
    assert text.startswith("perdure: 1") or "\nperdure: 1" in text, "mark a fragment as: yaml fragment"
    reading = read_text(text)
    assert [str(problem) for problem in reading.problems] == []
    wrong = [str(each) for each in check(reading.usable(), TOOLS) if each.code != UNKNOWN_TOOL]
    assert wrong == []


@pytest.mark.parametrize(("info", "text"), list(blocks("python")))
def test_every_python_block_runs(info, text, tmp_path, monkeypatch):
    assert info == "python"
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(text, "docs", "exec"), {"__name__": "docs"})  # noqa: S102  our own docs, run as they stand


def sessions():
    """Blocks of commands; one that `goes on` is in the same place as the one before it on its page."""
    found = []
    for each in blocks("console"):
        info, text = each.values
        if info == "console goes on":
            found[-1][1] += text
        else:
            found.append([info, text, each.id])
    return [pytest.param(info, text, id=name) for info, text, name in found]


@pytest.mark.parametrize(("info", "text"), sessions())
def test_every_command_prints_what_the_docs_say(info, text, tmp_path):
    assert info == "console"
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "scripts").mkdir()
    for each in ROOT.glob("scripts/demo_*.py"):
        shutil.copy(each, tmp_path / "scripts")
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            ["/bin/bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100",
                "HOME": str(tmp_path),
            },
        )  # fmt: skip
        shown = [line.rstrip() for line in (done.stdout + done.stderr).rstrip().splitlines()]
        pattern = "\n".join(
            ".*" if line == "…" else re.escape(line.rstrip()) for line in expected.rstrip().splitlines()
        )
        assert re.fullmatch(pattern, "\n".join(shown), re.DOTALL), f"$ {command}\n" + "\n".join(shown)


def prose(page):
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(prose(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), f"{target}#{anchor}"


def test_every_command_is_documented():
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"## perdure {name}" not in text] == []


def test_every_field_of_a_plan_is_documented():
    text = (ROOT / "docs/reference/plan.md").read_text(encoding="utf-8")
    names = {info.alias or name for model in (Plan, *STEP_TYPES.values()) for name, info in model.model_fields.items()}
    assert sorted(name for name in names if f"| `{name}` |" not in text and name != "kind") == []


def test_every_setting_is_documented():
    text = (ROOT / "docs/reference/config.md").read_text(encoding="utf-8")
    assert [setting.name for setting in SETTINGS if f"| `{setting.name}` |" not in text] == []


def test_the_settings_in_the_docs_can_be_set(tmp_path):
    page = (ROOT / "docs/reference/config.md").read_text(encoding="utf-8")
    (tmp_path / "perdure.toml").write_text(next(text for info, text in BLOCK.findall(page) if info == "toml"))
    assert load(env={"HOME": str(tmp_path)}, cwd=tmp_path).settings.limits.tools == {"http.get": 4}


def test_every_requirement_is_met_or_said_to_be_open():
    found = requirements.required()
    assert tuple(found) == requirements.NUMBERS
    assert [number for number, each in found.items() if not (each.pages if each.what else each.later)] == []


def test_every_requirement_that_is_called_met_is_named_by_a_test():
    tests = requirements.tests()
    met = [number for number, each in requirements.required().items() if each.what]
    assert len(met) > 40
    assert [number for number in met if not tests[number]] == []


def test_a_test_names_only_what_is_built():
    """What is claimed by a test is told to people too."""
    open_still = {number for number, each in requirements.required().items() if not each.what}
    assert {number: paths for number, paths in requirements.tests().items() if paths and number in open_still} == {}


def test_the_readme_says_what_is_not_built():
    text = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("## What is not built yet")[2].partition("\n## ")[0]
    )
    open_still = [number for number, each in requirements.required().items() if each.later]
    assert sorted(requirements.named(text)) == sorted(open_still)
    in_part = {number for part in re.findall(r"; ([^|]*) in part", text) for number in requirements.named(part)}
    assert in_part == {number for number in open_still if requirements.required()[number].what}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("E4 E10: it goes on", ["E4", "E10"]),
        ("T2-T4, X1\u2013X2.", ["T2", "T3", "T4", "X1", "X2"]),
        ("R2, S3 and XE4", []),
    ],
)
def test_requirements_are_found_in_texts(text, numbers):
    assert list(requirements.named(text)) == numbers


def test_every_public_name_is_documented():
    text = (ROOT / "docs/reference/engine.md").read_text(encoding="utf-8")
    assert [name for name in perdure.__all__ if not re.search(rf"^\| `{name}` \| \w", text, re.MULTILINE)] == []
    for each in (Engine, RunHandle, Result, StepResult):
        names = [name for name in vars(each) if not name.startswith("_")]
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == [], each
    assert [name for name in coding.__all__ if f"`{name}`" not in text] == []


@pytest.mark.parametrize("path", sorted((ROOT / "src/perdure/testing").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_what_ships_for_tests_is_few_and_documented(path):
    text = (ROOT / "docs/reference/engine.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| `perdure.testing.{path.stem}` \|.*$", text, re.MULTILINE)
    offered = import_module(f"perdure.testing.{path.stem}").__all__
    assert 0 < len(offered) < 5
    assert [name for name in offered if f"`{name}`" not in row] == []


def test_every_error_code_is_documented():
    text = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    assert [code for code in errors.codes() if code not in text] == []


def test_the_docs_name_no_place_of_anybodys_machine():
    """Code and tests may: what is in a sandbox has absolute paths, and so has what must be refused."""
    forbidden = re.compile(r"/(?:work|home|root|tmp)/")
    found = [str(page.relative_to(ROOT)) for page in READ if forbidden.search(page.read_text(encoding="utf-8"))]
    assert found == []


def kept():
    """Every file that is kept, and nothing that was made from them."""
    for (
        place
    ) in "*.* .ci/* Makefile LICENSE bench/**/* docs/**/* examples/**/* scripts/**/* src/**/* tests/**/*".split():
        for path in ROOT.glob(place):
            if path.is_file() and not MADE.search(path.relative_to(ROOT).as_posix()):
                yield path


MADE = re.compile(
    r"(?:^|/)(?:__pycache__|\.\w+_cache/|\.hypothesis/|\.coverage|\.git$)|^bench/peers/results/|\.egg-info/"
)
ELSEWHERE = re.compile(
    r"(?<![\w.}~-])/(?:work|root|home/(?!me\b)\w+|opt/pypi[\w-]*)/"  # a machine that something was made on
    r"|pypi\.org|pythonhosted\.org|registry\.(?:npmjs|yarnpkg)|(?:extra-)?index[-]url|find[-]links"  # an index of packages
    r"|\d-fc-v\d"  # the kernel that somebody has built
    r"|(?i:co[-]authored[-]by|generated (?:with|by) (?:claude|codex|copilot))|\bCEO\b|DEVELOPERS\.md|this work[p]lace"
)
"""What tells of where and by whom this was made; it helps nobody who reads it elsewhere."""


def test_everything_speaks_of_the_project_alone():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8", errors="replace") for path in kept()}
    assert {"Makefile", "scripts/setup", ".ci/run", "src/perdure/ports.py", "requirements.lock"} <= texts.keys()
    assert {name: found[0] for name, text in texts.items() if (found := ELSEWHERE.search(text))} == {}


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_table_is_empty(page):
    lines = [*prose(page).splitlines(), ""]
    ends = [n for n, line in enumerate(lines) if re.fullmatch(r"\|[ :|-]+\|", line)]
    assert [lines[n - 1] for n in ends if not lines[n + 1].startswith("|")] == []


def test_every_built_in_tool_is_documented():
    text = (ROOT / "docs/reference/tools.md").read_text(encoding="utf-8")
    assert [each.name for each in (*BUILTIN, *HANDS) if f"| `{each.name}` |" not in text] == []


def test_every_test_that_the_docs_name_is_there():
    """What is said to be proved is proved by something."""
    text = (ROOT / "docs/concepts/safety.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(tests/[^`]+)`", text))
    assert len(named) > 20
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []


@pytest.mark.parametrize("goal", "R1 R2 R5 R6 R7 R9 R10 R18 S3 S4 S5 S6 S7 S8 S9 S10 S11 S14".split())
def test_every_goal_about_effects_names_its_test(goal):
    text = (ROOT / "docs/concepts/safety.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| {goal} \|.*$", text, re.MULTILINE)
    assert "`tests/" in row
