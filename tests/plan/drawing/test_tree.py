from io import StringIO

from rich.console import Console

from perdure.plan.drawing.tree import cells, plain_tree, tree
from perdure.plan.model.document import Plan

RELEASE = Plan.model_validate(
    {
        "goal": "Ship release ${inputs.version}",
        "budget": {"seconds": 900, "usd": 2.0},
        "steps": [
            {"id": "fetch", "tool": "http.get", "retry": {"attempts": 5}, "title": "Get the notes"},
            {
                "id": "components",
                "parallel": [{"id": "models", "agent": "code"}, {"id": "api", "agent": "code"}],
                "limit": 4,
            },
            {"id": "tests", "tool": "shell.run", "max_visits": 6, "on": {"failure": "fix"}},
            {"id": "review", "ask": "Good?", "choices": ["publish", "fix", "stop"], "on": {"stop": "fail"}},
            {"id": "publish", "tool": "release.upload", "when": "inputs.real", "undo": {"tool": "release.yank"}},
            {"id": "end", "done": True},
            {"id": "fix", "agent": "refinement", "on": {"success": "tests"}},
        ],
    }
)

GOLDEN = """\
Ship release ${inputs.version}  ≤ 15m, $2.00
├── ▪ fetch       http.get  retry 5  — Get the notes
├── ▾ components  parallel  4 at once
│   ├── ● models  agent code
│   └── ● api     agent code
├── ▪ tests       shell.run  failure → fix  ≤ 6 visits
├── ? review      ask: Good?  → publish, fix  stop → fail
├── ▪ publish     release.upload  if inputs.real · undo
├── ✓ end         done
└── ● fix         agent refinement  success → tests
"""


def printed(plan, width=100):
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False)
    console.print(tree(plan))
    return console.file.getvalue()


def test_a_small_plan():
    assert plain_tree(RELEASE) == GOLDEN


def test_the_coloured_tree_says_the_same():
    assert [line.rstrip() for line in printed(RELEASE).splitlines()] == GOLDEN.splitlines()


def test_a_graph_says_what_is_needed():
    steps = [
        {"id": "a", "tool": "x.y"},
        {"id": "b", "tool": "x.y", "needs": ["a"]},
        {"id": "c", "tool": "x.y", "needs": ["a", "b"]},
    ]
    assert plain_tree(Plan.model_validate({"name": "g", "steps": steps})) == (
        "g  graph\n├── ▪ a  x.y\n├── ▪ b  x.y  needs a\n└── ▪ c  x.y  needs a, b\n"
    )


def test_no_line_is_wider_than_the_terminal():
    steps = [{"id": f"s{n}", "tool": "x.y", "title": "長い題名と long words " * n} for n in range(9)]
    plan = Plan.model_validate({"goal": "g" * 90, "steps": steps})
    for width in (20, 41, 80):
        assert all(sum(map(cells, line)) <= width for line in plain_tree(plan, width).splitlines())
        assert all(sum(map(cells, line.rstrip())) <= width for line in printed(plan, width).splitlines())


def test_markup_is_only_text():
    plan = Plan.model_validate(
        {"goal": "[bold]g[/]", "steps": [{"id": "a", "ask": "[red]x[/red] [link=http://e]y[/link]"}]}
    )
    assert "[red]x[/red] [link=http://e]y[/link]" in printed(plan)
    assert "[bold]g[/]" in printed(plan)
