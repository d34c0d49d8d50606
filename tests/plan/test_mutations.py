"""E1: thousands of damaged plans. No uncaught exception; each refusal has a place and a sentence; none is slow."""

import contextlib
import copy
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from perdure.plan import Plan
from perdure.plan.limits import Limits
from perdure.plan.reading import read_text
from perdure.plan.reading.json_text import read_json
from perdure.plan.reading.source import Unreadable
from perdure.plan.reading.yaml_text import read_yaml

TOTAL = 10_000
SHARDS = 8
SLOWEST = 0.050

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "plans").glob("*.yaml"))
TEXTS = [path.read_text(encoding="utf-8") for path in EXAMPLES]
DOCUMENTS = [read_yaml(text, Limits())[0] for text in TEXTS] + [
    [
        {"label": "a", "agent_key": "plan_agent", "on_success": "dynamic", "on_fail": "manual_intervention"},
        {
            "label": "b",
            "agent_key": "x",
            "on_success": "a",
            "steps": [{"label": "c"}],
            "parallel_steps": [{"label": "d"}],
        },
    ],
    {
        "steps": [
            {"step_number": 1, "tool": "a.b", "parameters": {}},
            {"step_number": 2, "tool": "a.c", "depends_on": [1]},
        ]
    },
    {"steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "dependencies": ["a"]}]},
]

ODD = st.sampled_from(
    [
        None, True, False, 0, -1, 2**53, 10**30, 1.5, "", " ", "next", "done", "fail", "dynamic", "serial", "graph", "any", "all",
        "${", "${}", "${steps.}", "${steps.zz.output}", "${inputs.a + inputs.b}", "${secrets.X}", "${item}", "1 +", "steps", "10s", "-1s",
        "a" * 5000, "\u202e", "\x1b[31m", "é", "in", [], {}, [[]], [{}], {"": {}}, {"id": "x"}, {"tool": "a.b"}, {"steps": []},
        {"quorum": 99}, {"tolerate": -1}, {"attempts": 0}, [None], ["a", "a"], {"id": "a", "tool": "x.y", "needs": ["a"]},
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    "id tool agent steps parallel on needs when map plan ask wait label undo budget mode join max_visits kind with "
    "choices inputs output retyr on_success depends_on meta".split()
)


def places(document):
    stack, found = [(document, None, None)], []
    while stack:
        item, holder, key = stack.pop()
        if holder is not None:
            found.append((holder, key))
        if isinstance(item, dict):
            stack.extend((value, item, name) for name, value in item.items())
        elif isinstance(item, list):
            stack.extend((value, item, n) for n, value in enumerate(item))
    return found


@st.composite
def damaged(draw):
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, 4))):
        spots = places(document)
        if not spots:
            break
        holder, key = spots[draw(st.integers(0, len(spots) - 1))]
        match draw(st.integers(0, 5)):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(draw(ODD))
            case 2:
                other, name = spots[draw(st.integers(0, len(spots) - 1))]
                holder[key] = copy.deepcopy(other[name])
            case 3 if isinstance(holder, list):
                holder.insert(draw(st.integers(0, len(holder))), copy.deepcopy(holder[key]))
            case 4 if isinstance(holder, dict):
                holder[draw(WORDS)] = holder.pop(key)
            case _ if isinstance(holder, dict):
                holder[draw(WORDS)] = copy.deepcopy(draw(ODD))
            case _:
                holder.reverse()
    return json.dumps(document), "json"


@st.composite
def scratched(draw):
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 3))
        text = (
            text[:place]
            + draw(
                st.sampled_from(
                    ["", ":", " ", "\n", "{", "}", "[", "]", "&a ", "*a", "!t ", "- ", '"', "\t", "${", "é", "\x00"]
                )
            )
            + text[place + cut :]
        )
    return text, "yaml"


def reading_time(text, kind):
    start = time.thread_time()
    with contextlib.suppress(Unreadable):
        (read_json if kind == "json" else read_yaml)(text, Limits())
    return time.thread_time() - start


def judge(text, kind):
    alone = reading_time(text, kind)
    start = time.thread_time()
    reading = read_text(text, "plan", kind)
    spent = time.thread_time() - start - alone
    for problem in reading.problems:
        assert problem.message, problem
        assert problem.code.startswith("PRD1"), problem
        assert problem.line >= 1, problem
        assert problem.column >= 1, problem
    assert reading.errors or reading.plan is not None
    if not reading.errors:
        assert Plan.model_validate(json.loads(reading.plan.canonical_json())) == reading.plan
    return spent


def judge_twice(text, kind):
    """A pause of the machine is forgiven once; a slow check is slow each time."""
    if judge(text, kind) > SLOWEST:
        assert min(judge(text, kind) for _ in range(3)) <= SLOWEST


@pytest.mark.campaign("damaged plans", "R19", of="documents", times=1250)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_plans_are_refused_in_order(shard, trials):
    @settings(
        max_examples=TOTAL // SHARDS,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],  # explaining traces every line, which is slow by itself
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged() | scratched())
    def campaign(document):
        judge_twice(*document)

    for number in trials(1, shard):
        seed(number)(campaign)()
