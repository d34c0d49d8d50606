"""T11: `perdure agents`: the stock agents, those of the project, and the user's own."""

import json

import pytest

STOCK = {"branching", "comprehensive_planner", "critic", "planning", "refinement", "reminiscing", "summarizer"}
MINE = "---\nskills: [weather]\nmodel: weak\nprice: 0.01\n---\nYou know the weather.\n\nAnd you say so.\n"


def test_t11_the_stock_agents_are_there(perdure):
    done = perdure("agents", "ls", "--json")
    found = {each["name"]: each for each in json.loads(done.stdout)["agents"]}
    assert set(found) >= STOCK
    assert found["critic"]["origin"] == "built in"
    assert "critic" in perdure("agents", "ls").stdout


def test_an_agent_is_a_file_and_the_users_own_counts_first(perdure, home, tmp_path):
    project, own = tmp_path / "perdure" / "agents", home / ".config" / "perdure" / "agents"
    for place in (project, own):
        place.mkdir(parents=True)
    (project / "weatherman.md").write_text(MINE)
    (project / "critic.md").write_text("---\nmodel: weak\n---\nOf the project.\n")
    (own / "critic.md").write_text("---\nmodel: weak\n---\nMine.\n")
    done = perdure("agents", "show", "weatherman", cwd=tmp_path)
    assert done.stdout.endswith("\nYou know the weather.\n\nAnd you say so.\n")
    assert "0.01" in done.stdout
    assert "Mine." in perdure("agents", "show", "critic", cwd=tmp_path).stdout


def test_a_link_of_the_project_is_refused_and_one_of_the_user_is_followed(perdure, home, tmp_path):
    project, own = tmp_path / "shop" / "perdure" / "agents", home / ".config" / "perdure" / "agents"
    for place in (project, own):
        place.mkdir(parents=True)
    (tmp_path / "private.md").write_text(MINE)
    (own / "mine.md").symlink_to(tmp_path / "private.md")
    assert "You know the weather." in perdure("agents", "show", "mine", cwd=project.parents[1]).stdout
    (project / "theirs.md").symlink_to(tmp_path / "private.md")
    done = perdure("agents", "show", "theirs", cwd=project.parents[1])
    assert (done.returncode, "PRD4101" in done.stderr, "theirs.md is a link" in done.stderr) == (6, True, True)
    assert "weather" not in done.stdout + done.stderr


def test_who_is_not_there_is_said(perdure, tmp_path):
    done = perdure("agents", "show", "critik")
    assert (done.returncode, "PRD4102" in done.stderr, "critic" in done.stderr) == (3, True, True)
    (tmp_path / "perdure" / "agents").mkdir(parents=True)
    (tmp_path / "perdure" / "agents" / "bad.md").write_text("no head")
    done = perdure("agents", "ls", cwd=tmp_path)
    assert (done.returncode, "PRD4101" in done.stderr, "bad.md has no head" in done.stderr) == (6, True, True)


@pytest.mark.parametrize(
    ("name", "head", "told"),
    [
        ("bob", "strategy: nope", '"bob" works by "nope"'),
        ("bob", "{strategy: reflexion, options: {strategy: zzz}}", '"bob" makes attempts by "zzz"'),
        ("any", "role: x", '"any" stands for whoever'),
    ],
)
def test_an_agent_that_cannot_be_is_told_by_doctor_and_with_the_list(perdure, tmp_path, name, head, told):
    (tmp_path / "perdure" / "agents").mkdir(parents=True)
    (tmp_path / "perdure" / "agents" / f"{name}.md").write_text(f"---\n{head}\n---\nHello.\n")
    done = perdure("agents", "ls", cwd=tmp_path)
    assert (done.returncode, f"warning PRD4101: {told}" in done.stderr) == (0, True), done.stderr
    done = perdure("doctor", cwd=tmp_path)
    assert (done.returncode, f"fail  agents    PRD4101: {told}" in done.stdout) == (1, True), done.stdout


def test_doctor_tells_of_a_file_that_is_no_agent(perdure, tmp_path):
    (tmp_path / "perdure" / "agents").mkdir(parents=True)
    (tmp_path / "perdure" / "agents" / "bob.md").write_text("---\nfoo: nope\n---\n")
    done = perdure("doctor", cwd=tmp_path)
    assert (done.returncode, "bob.md: `foo`" in done.stdout) == (1, True), done.stdout
