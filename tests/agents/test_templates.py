"""A2: templates are plan files, chosen by classifying the request; users add their own; below a threshold none is taken."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import run_sync
from perdure.agents.templates import BadTemplate, Head, classify, fill, stock, template_of, templates_in, templates_of
from perdure.core.calls import Failure
from perdure.plan.checks import check
from perdure.testing.worlds import World
from perdure.tools import BUILTIN, toolbox_of
from perdure.tools.builtin import HANDS

TOOLBOX = toolbox_of((*BUILTIN, *HANDS))
STOCK = {each.name: each for each in stock()}
GREET = """
perdure: 1
goal: Greet ${inputs.name}
inputs: {name: {type: string}, times: {type: integer, default: 1}}
meta: {template: {about: Greet somebody., words: [greet, welcome], examples: ['greet name "Ada"', 'say hello to "Ada"']}}
steps: [{id: ask, tool: flow.echo, with: {value: ["${inputs.name}", "${inputs.times}"]}}]
output: ${steps.ask.output}
"""


def greet():
    return template_of(GREET.encode(), "greet.yaml", "templates/greet.yaml")


@pytest.mark.parametrize("template", STOCK.values(), ids=STOCK)
def test_a2_every_template_that_comes_with_it_is_a_plan_for_tools_that_are_there(template):
    assert check(template.plan, TOOLBOX) == []
    for example in template.head.examples:
        verdict = classify(example, STOCK.values())
        assert verdict.chosen.template is template
        assert fill(template, example).missing == ()


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("download https://example.com/data.json and save it as data.json", "save_page"),
        ("fetch https://a.org and store it in x.html", "save_page"),
        ("save the page https://a.org", "save_page"),
        ('change app.py: old "1", new "2"; then test "make" and commit with message "Up"', "edit_test_commit"),
        ("bake a cake", None),
        ("read notes.txt", None),
        ("tag it", None),
        ("", None),
        ("download https://a.org/x and mail it to ada@example.org", None),
    ],
)
def test_a2_the_template_that_fits_is_chosen_and_below_a_threshold_none(request_, name):
    verdict = classify(request_, STOCK.values())
    assert (verdict.chosen.template.name if verdict.chosen else None) == name


def test_a_choice_has_a_score_and_reasons():
    verdict = classify("fetch https://a.org and store it in x.html", STOCK.values())
    assert verdict.why == "save_page fits 0.70: 2 of 2 words; 40% like an example; all that it needs is said"
    assert classify("save it", STOCK.values()).why.startswith("no template fits; the nearest is save_page with 0.")
    assert classify("bake a cake", STOCK.values()).why == "no template fits"
    assert classify("anything", []).why == "there are no templates"


def test_two_templates_that_fit_alike_are_both_told_and_none_is_taken():
    one = greet()
    other = template_of(GREET.encode(), "welcome.yaml", "elsewhere")
    verdict = classify('greet name "Ada"', [one, other])
    assert verdict.chosen is None
    assert verdict.why == "several templates fit alike: greet, welcome"


def test_values_of_the_request_become_the_defaults_of_inputs():
    filled = fill(greet(), 'greet name "Ada", times: 2')
    assert {name: schema["default"] for name, schema in filled.plan.inputs.items()} == {"name": "Ada", "times": 2}
    assert filled.plan.meta["parameters"]["name"] == {"from": "request", "how": 'after "name"', "at": [12, 15]}
    assert run_sync(filled.plan).output == ["Ada", 2]


def test_what_is_given_counts_before_what_the_request_says():
    assert fill(greet(), 'greet name "Ada"', {"name": "Bob"}).plan.inputs["name"]["default"] == "Bob"


def test_what_is_missing_is_asked_for_first_whatever_ids_the_plan_has():
    filled = fill(greet(), "greet somebody")
    assert filled.missing == ("name",)
    assert [step.id for step in filled.plan.steps] == ["ask_", "work"]
    assert check(filled.plan, TOOLBOX) == []
    assert filled.plan.steps[0].form["required"] == ["name"]


def test_what_a_request_says_never_becomes_an_expression():
    filled = fill(greet(), 'greet name "${secrets.password}"')
    assert run_sync(filled.plan).output == ["${secrets.password}", 1]
    asking = fill(greet(), "greet ${secrets.password}")
    assert check(asking.plan, TOOLBOX) == []


def test_a2_users_add_their_own_as_files(tmp_path):
    (tmp_path / "greet.yaml").write_text(GREET)
    (tmp_path / "chart.yaml").write_text("kind: {{ .Values.kind }}")
    (tmp_path / "plain.yaml").write_text("perdure: 1\nsteps: [{id: a, done: true}]")
    (tmp_path / "page.html").write_text("perdure: 1")
    broken, found = sorted(templates_in(tmp_path), key=lambda each: isinstance(each, Head) or hasattr(each, "head"))
    assert (found.name, found.origin) == ("greet", str(tmp_path / "greet.yaml"))
    assert isinstance(broken, BadTemplate)
    assert broken.code == "PRD4204"
    assert "plain.yaml" in broken.message
    assert list(templates_in(tmp_path / "nowhere")) == []


def test_a_link_that_leads_out_of_a_project_makes_no_template(tmp_path):
    """It may be a stranger's, and the file one that only its user may read."""
    shop, private = tmp_path / "shop", tmp_path / "private"
    for place in (shop / "perdure" / "templates", private / "templates"):
        place.mkdir(parents=True)
    (private / "templates" / "greet.yaml").write_text(GREET + "# the safe opens at 3-7-1\n")
    inside = shop / "perdure" / "templates"
    (inside / "real.yaml").write_text(GREET)
    (inside / "alias.yaml").symlink_to("real.yaml")
    (tmp_path / "here").symlink_to("shop")
    assert [each.name for each in templates_of(tmp_path / "here", "perdure", "templates")] == ["alias", "real"]
    (inside / "out.yaml").symlink_to(private / "templates" / "greet.yaml")
    assert refused(shop) == ["out.yaml"]
    shutil.rmtree(shop / "perdure")
    (shop / "perdure").symlink_to(private)
    assert refused(shop) == ["greet.yaml"]


def refused(root):
    bad = [each for each in templates_of(root, "perdure", "templates") if isinstance(each, BadTemplate)]
    assert all("leads out of" in each.message and "safe" not in each.message for each in bad)
    return [Path(each.message.split(" ")[2]).name for each in bad]


@pytest.mark.parametrize(
    "text",
    [
        "perdure: 1\nsteps: []",
        "perdure: 1\nsteps: [{id: a, done: true}]\nmeta: {template: {about: x}}",
        "perdure: 1\nsteps: [{id: a, done: true}]\nmeta: {template: {about: x, examples: []}}",
        "perdure: 1\nsteps: [{id: a, done: true}]\nmeta: {template: {about: x, examples: [y], wrods: [z]}}",
        "perdure: 1\nsteps: [{id: a, tool: b.c, with: {x: '${inputs.y}'}}]\nmeta: {template: {about: x, examples: [y]}}",
    ],
)
def test_a_template_that_is_none_is_refused_with_its_reasons(text):
    with pytest.raises(BadTemplate) as refusal:
        template_of(text.encode(), "x.yaml", "templates/x.yaml")
    assert "templates/x.yaml" in refusal.value.message


@given(st.text(max_size=80), st.sampled_from(sorted(STOCK)))
def test_a_filled_template_is_always_a_plan_without_problems(request_, name):
    filled = fill(STOCK[name], request_)
    assert check(filled.plan, TOOLBOX) == []
    assert all(0 <= each.score <= 1 for each in classify(request_, STOCK.values()).rated)


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        ({"text": "<p>"}, ["fetch", "keep_text"]),
        ({"json": [1]}, ["fetch", "written_out", "keep_json"]),
        ({"bytes": "AA=="}, ["fetch", "keep_bytes"]),
    ],
)
def test_a_page_is_kept_whatever_it_is_made_of(answer, done):
    plan = fill(STOCK["save_page"], "download https://example.com/x and save it as x.html").plan
    world = World(plan, {"fetch": {"url": "https://example.com/x", **answer}}).start().run()
    assert (world.status, world.done()) == ("succeeded", done)
    assert world.output == {"url": "https://example.com/x", "path": "x.html"}


def test_a_change_that_does_not_pass_its_tests_is_taken_back():
    plan = fill(STOCK["edit_test_commit"], STOCK["edit_test_commit"].head.examples[0]).plan
    kept = World(plan).start().run()
    assert (kept.status, kept.done()) == ("succeeded", ["edit", "try", "commit"])
    world = World(plan, {"try": Failure("logic", "1 failed")}).start().run()
    assert (world.status, world.done()) == ("failed", ["edit", "try"])
    assert world.failure.message == "The tests did not pass, and the change was taken back."
