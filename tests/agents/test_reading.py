"""T11: agents as files."""

import shutil

import pytest

from perdure.agents import Agent, BadAgent, Roster
from perdure.agents.reading import agents_in, agents_of, read_agent, stock


def test_an_agent_is_a_head_of_fields_and_what_it_is_told():
    agent = read_agent(
        "---\nmodel: weak\ntools: [files.read]\noptions: {rounds: 3}\n---\n\nRead --- it.\n", "reader.md"
    )
    assert (agent.name, agent.model, agent.tools, agent.options) == ("reader", "weak", ("files.read",), {"rounds": 3})
    assert agent.instructions == "Read --- it."
    assert read_agent("---\n\n---\n", "a.md").name == "a"
    assert read_agent("---\nname: other\n---\n", "a.md").name == "other"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("You are.", "has no head"),
        ("---\nmodel: weak\n", "has no head"),
        ("---\n[1]\n---\n", "no mapping"),
        ("---\nmodel: 3\n---\n", "`model`"),
        ("---\nmodell: weak\n---\n", "`modell`"),
        ("---\ninstructions: x\n---\n", "stand below"),
        ("---\na: [\n---\n", "a.md"),
        ("---\na: 1\na: 2\n---\n", "a.md"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text, told):
    with pytest.raises(BadAgent) as refused:
        read_agent(text, "a.md")
    assert told in refused.value.message


def test_t11_the_stock_agents_can_be_given_work(tmp_path):
    assert {"planning", "comprehensive_planner", "branching", "critic", "refinement", "reminiscing"} <= {
        each.name for each in stock()
    }
    assert all(each.instructions for each in stock())
    Roster([each for each in stock() if each.strategy in {"react", "draft"}])
    assert list(agents_in(tmp_path / "none")) == []


def test_a_file_that_is_too_large_is_refused(tmp_path):
    (tmp_path / "a.md").write_text("---\n---\n" + "x" * 300_000)
    with pytest.raises(BadAgent):
        list(agents_in(tmp_path))


def test_a_projects_file_that_is_a_link_out_of_its_directory_is_refused_unread(tmp_path):
    """Whoever is given the repository would have a file of the user's told to a model."""
    private, shop = tmp_path / "private", tmp_path / "shop"
    agents = shop / "perdure" / "agents"
    for place in (private / "agents", agents):
        place.mkdir(parents=True)
    (private / "agents" / "notes.md").write_text("---\n\n---\nThe safe opens at 3-7-1.\n")
    (agents / "real.md").write_text("---\n\n---\nYou write.\n")
    (agents / "alias.md").symlink_to("real.md")
    assert [each.name for each in agents_of(shop, "perdure", "agents")] == ["alias", "real"]
    (tmp_path / "here").symlink_to("shop")
    assert len(list(agents_of(tmp_path / "here", "perdure", "agents"))) == 2, "the user goes where they like"
    (agents / "critic.md").symlink_to(private / "agents" / "notes.md")
    refused(shop, "critic.md")
    (agents / "critic.md").unlink()
    (agents / "critic.md").symlink_to("../../notes.md")
    refused(shop, "critic.md")
    shutil.rmtree(shop / "perdure")
    (shop / "perdure").symlink_to(private)
    refused(shop, "notes.md")


def refused(root, name):
    with pytest.raises(BadAgent) as error:
        list(agents_of(root, "perdure", "agents"))
    assert (error.value.code, name in error.value.message) == ("PRD4101", True)
    assert "leads out of" in error.value.message
    assert "safe" not in error.value.message


def test_all_agents_that_cannot_be_are_told_at_once():
    wrong = [Agent(name="a", strategy="nope"), Agent(name="b"), Agent(name="c", fallbacks=("d",))]
    with pytest.raises(BadAgent) as refused:
        Roster(wrong)
    assert refused.value.message == '"a" works by "nope", which there is not; "c" falls back on "d", whom there is not'
