import re

import pytest

from perdure.plan.drawing.mermaid import mermaid, quoted
from perdure.plan.model.document import Plan

GOLDEN = """\
flowchart TD
  n1["fetch<br/>http.get<br/>Get the notes<br/>retry 5"]
  subgraph n2["parts · parallel · 4 at once"]
    direction TB
    n3("models<br/>agent code")
    n4("api<br/>agent code")
  end
  n5["tests<br/>shell.run"]
  n6{"route<br/>decide: inputs.x"}
  n7[/"review<br/>ask: Good?"/]
  n8(["end<br/>done"])
  n9("fix<br/>agent refinement")
  n1 --> n2
  n2 --> n5
  n4 -.->|"failure"| n9
  n5 --> n6
  n5 -.->|"failure"| n9
  n6 -.->|"review"| n7
  n6 -.->|"fix"| n9
  n7 --> n8
  n9 -.->|"success"| n5
  e1(("fail"))
  n7 -.->|"rejected, expired"| e1
  classDef act stroke:#3f6fb0
  class n1,n3,n4,n5,n6,n9 act
  classDef pause stroke:#b7791f
  class n7 pause
  classDef group stroke:#7b8794
  class n2 group
  classDef done stroke:#2f855a
  class n8 done
"""


def drawn(*steps, **more):
    return mermaid(Plan.model_validate({"steps": list(steps), **more}))


def test_a_small_plan():
    found = drawn(
        {"id": "fetch", "tool": "http.get", "retry": {"attempts": 5}, "title": "Get the notes"},
        {
            "id": "parts",
            "parallel": [{"id": "models", "agent": "code"}, {"id": "api", "agent": "code", "on": {"failure": "fix"}}],
            "limit": 4,
        },
        {"id": "tests", "tool": "shell.run", "on": {"failure": "fix"}},
        {"id": "route", "decide": "inputs.x", "choices": ["review", "fix"]},
        {"id": "review", "ask": "Good?", "on": {"rejected": "fail", "expired": "fail"}},
        {"id": "end", "done": True},
        {"id": "fix", "agent": "refinement", "on": {"success": "tests"}},
    )
    assert found == GOLDEN


def test_needs_are_solid_arrows():
    found = drawn({"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "needs": ["a"]})
    assert "  n1 --> n2\n" in found


def test_a_group_is_never_tied_to_itself_or_to_what_is_in_it():
    inner = {"id": "g", "steps": [{"id": "a", "tool": "x.y", "on": {"failure": "g"}}, {"id": "b", "tool": "x.y"}]}
    found = drawn({**inner, "on": {"failure": "g"}})
    assert '  n3 -.->|"failure"| n2\n' in found  # the group again: from its last step to its first
    assert '  n2 -.->|"failure"| n2\n' in found  # a step that starts its group again
    assert not re.search(r"\bn1 -|> n1$|\| n1$", found, re.MULTILINE)


def test_boxes_are_closed_in_order():
    found = drawn({"id": "a", "steps": [{"id": "b", "steps": [{"id": "c", "tool": "x.y"}]}]}, {"id": "d", "steps": []})
    assert [line.split("[")[0] for line in found.splitlines() if "direction" not in line][:7] == [
        "flowchart TD",
        "  subgraph n1",
        "    subgraph n2",
        "      n3",
        "    end",
        "  end",
        "  n4",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words, a.b and x_y: 1", '"plain words, a.b and x_y: 1"'),
        ('say "hi"', '"say #34;hi#34;"'),
        ("#35; & <b>", '"#35;35#59; #38; #60;b#62;"'),
        ("`x` %% [y](z) {a|b}", '"#96;x#96; #37;#37; #91;y#93;#40;z#41; #123;a#124;b#125;"'),
        ("_em_ - list 1. one", '"#95;em#95; #45; list 1#46; one"'),
        ("$$x$$ fa:fa-ban", '"#36; #36;x#36; #36; fa: fa-ban"'),
        ("\x1b[0m\u202e", '"#92;u001b#91;0m#92;u202e"'),
        ("日本語…", '"日本語…"'),
    ],
)
def test_labels_cannot_break_out(text, written):
    assert quoted(text) == written
