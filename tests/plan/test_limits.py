"""E1, E17: large plans are read without recursion; larger ones are refused with a sentence."""

import json
import random
import subprocess
import sys

import pytest

from perdure import LabelStep, Plan, PlanError
from perdure.plan.limits import DEEPEST, Limits
from perdure.plan.measures import measure
from perdure.plan.reading import read_data, read_text
from perdure.plan.writing import to_yaml


def graph(size, chain, needs):
    """A graph with one long chain in it; the other needs are drawn by lot among the steps before."""
    draw = random.Random(7)
    wanted = [{n - 1} if 0 < n < chain else set() for n in range(size)]
    left = needs - (chain - 1)
    while left:
        n = draw.randrange(50, size)
        other = draw.randrange(n)
        if other not in wanted[n] and n >= chain:
            wanted[n].add(other)
            left -= 1
    return {
        "mode": "graph",
        "steps": [
            {
                "id": f"s{n}",
                "tool": "text.join",
                "needs": [f"s{each}" for each in sorted(wanted[n])],
                "with": {"before": f"${{steps.s{max(wanted[n])}.output}}" if wanted[n] else n},
            }
            for n in range(size)
        ],
    }


def test_a_graph_of_20000_steps_with_85000_needs_and_a_chain_of_13000():
    reading = read_text(json.dumps(graph(20_000, 13_000, 85_000)), kind="json")
    assert reading.errors == []
    assert reading.plan.hash.startswith("sha256-jcs-v1:")
    assert len(measure(reading.plan).path) >= 13_000


def test_the_same_in_yaml_in_less_than_500_megabytes(tmp_path):
    document = tmp_path / "large.yaml"
    document.write_text(json.dumps(graph(20_000, 13_000, 85_000)))  # JSON is YAML, and is written faster
    code = "import re, sys; from perdure import Plan; Plan.load(sys.argv[1]).hash; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    done = subprocess.run([sys.executable, "-c", code, str(document)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500 * 1024


def nested(depth, word="steps"):
    step = {"id": "leaf", "tool": "x.y"}
    for n in range(depth - 1):
        step = {"id": f"g{n}", "plan": {"steps": [step]}} if word == "plan" else {"id": f"g{n}", word: [step]}
    return {"steps": [step]}


@pytest.mark.parametrize("word", ["steps", "parallel", "plan"])
def test_64_levels_are_fine_and_65_are_refused(word):
    reading = read_data(nested(64, word))
    assert reading.errors == []
    assert read_text(to_yaml(reading.plan)).usable() == reading.plan
    assert [problem.code for problem in read_data(nested(65, word)).errors] == ["PRD1004"]
    assert read_data(nested(65, word), Limits(depth=DEEPEST)).errors == []


@pytest.mark.parametrize("word", ["steps", "parallel", "parallel_steps", "plan", "with", "on"])
@pytest.mark.parametrize("depth", [300, 5_000])
def test_python_data_of_any_depth_is_refused_and_not_followed(word, depth):
    value = {"id": "leaf", "label": "leaf", "tool": "x.y"}
    for n in range(depth):
        value = {"id": f"g{n}", word: value if word in ("plan", "with", "on") else [value]}
    reading = read_data({"steps": [value]})
    assert reading.errors
    assert all(problem.message for problem in reading.errors)


def test_label_steps_of_any_depth_are_refused():
    step = LabelStep("leaf", "x_agent")
    for n in range(3_000):
        step = LabelStep(f"g{n}", steps=[step])
    with pytest.raises(PlanError, match="PRD1004"):
        Plan.from_steps([step])


def test_too_many_steps():
    document = {"steps": [{"id": f"s{n}", "tool": "x.y"} for n in range(50_001)]}
    [problem] = read_data(document).errors
    assert (problem.code, problem.message) == ("PRD1004", "the plan has more than 50,000 steps")
    assert problem.help


def test_too_many_bytes(tmp_path):
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (16 * 1024 * 1024 + 1))
    with pytest.raises(PlanError, match="more than 16,777,216 bytes"):
        Plan.load(large)


def test_limits_are_configurable_within_reason():
    assert read_data({"steps": [{"id": "a", "tool": "x.y"}]}, Limits(steps=1)).errors == []
    with pytest.raises(ValueError, match="from 1 to 80"):
        Limits(depth=1_000)


@pytest.mark.parametrize(
    "wrong",
    [{"needs": ["nobody"]}, {"retyr": {}}, {"on": {"failure": "nowhere"}}, {"with": {"u": "${steps.zz.output}"}}],
)
def test_of_ten_thousand_mistakes_a_thousand_are_told(wrong):
    document = {"mode": "graph", "steps": [{"id": f"s{n}", "tool": "x.y", **wrong} for n in range(10_000)]}
    errors = read_data(document).errors
    assert len(errors) == 1_001
    assert errors[-1].message == "there are more than 1,000 problems"


def test_an_exception_names_the_first_problems_and_holds_all():
    steps = [{"id": f"s{n}", "tool": "text.upper", "colour": n} for n in range(30)]
    with pytest.raises(PlanError) as caught:
        read_data({"steps": steps}).usable()
    assert len(caught.value.problems) == 30
    assert str(caught.value).splitlines()[-1] == "and 10 more"
