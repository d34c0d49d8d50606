"""How commands are called: what stands below the help of each."""

from typing import Final

EXAMPLES: Final = {
    "agents": ("perdure agents ls", "perdure agents show critic"),
    "answer": ("perdure answer @last yes", "perdure answer @last approve no -m 'not this week'"),
    "approve": ("perdure approve @last", "perdure approve @last publish --by ann -m 'tests are green'"),
    "cancel": ("perdure cancel @last -m 'wrong version'", "perdure cancel @last fetch"),
    "check": ("perdure check plan.yaml", "perdure check --strict --feasible plans/*.yaml"),
    "code": (
        "perdure code 'Rename the class Order to Purchase' --dry-run",
        "perdure code 'Raise the price to 12' --test 'pytest -q' --branch raise --usd 2",
    ),
    "config": ("perdure config show --origin",),
    "convert": ("perdure convert old.yaml -o plan.yaml",),
    "diff": ("perdure diff before.yaml after.yaml", "perdure diff @last", "perdure diff @last 1 2"),
    "draw": ("perdure draw plan.yaml", "perdure draw plan.yaml --html plan.html", "perdure draw @last --mermaid"),
    "edit": ("perdure edit @last", "perdure edit @last --file better.yaml --why 'we know more now'"),
    "estimate": ("perdure estimate plan.yaml -i version=1.2", "perdure estimate plan.yaml --json"),
    "explain": ("perdure explain PRD1203",),
    "export": ("perdure export @last -o run.jsonl",),
    "fork": ("perdure fork @last", "perdure fork @last --from build --set version=1.3"),
    "gc": ("perdure gc --dry-run", "perdure gc --older-than 30d --keep 100"),
    "import": ("perdure import run.jsonl",),
    "keys": ("perdure keys new ann --scope approve --expires 30d", "perdure keys ls", "perdure keys revoke ann"),
    "logs": ("perdure logs @last", "perdure logs @last --follow"),
    "ls": ("perdure ls", "perdure ls --status waiting --status interrupted"),
    "mcp": ("perdure mcp ls", "perdure mcp approve files"),
    "memory": (
        "perdure memory search 'tides in the harbour'",
        "perdure memory note 'Row at high tide' --about harbour",
    ),
    "models": ("perdure models ls", "perdure models check default"),
    "open": ("perdure open", "perdure open --scope read"),
    "pause": ("perdure pause @last",),
    "plan": (
        "perdure plan 'Read notes.txt and count the words'",
        "perdure plan 'Fetch https://example.com' -o plan.yaml",
    ),
    "policy": ("perdure policy show", "perdure policy test plan.yaml 'write src/a.py' 'run pytest -q'"),
    "questions": ("perdure questions", "perdure questions @last"),
    "reject": ("perdure reject @last -m 'not this one'",),
    "replay": ("perdure replay @last", "perdure replay @last --decide", "perdure replay @last --stub better.yaml"),
    "resume": ("perdure resume @last", "perdure resume --all", "perdure resume @last --map mail.send=mail.send_it"),
    "retry": ("perdure retry @last", "perdure retry @last build --plan mended.yaml"),
    "rollback": ("perdure rollback @last", "perdure rollback @last --to before_release"),
    "run": (
        "perdure run plan.yaml -i version=1.2",
        "perdure run plan.yaml --dry-run",
        "perdure run 'Read notes.txt and count the words'",
    ),
    "schema": ("perdure schema > plan.schema.json",),
    "serve": (
        "perdure serve",
        "perdure serve --port 0 --json",
        "perdure serve --tools shop.tools:TOOLS",
    ),
    "show": ("perdure show @last", "perdure show @last --failures", "perdure show @last --at 12"),
    "signal": ("perdure signal @last paid", "perdure signal @last paid '{\"amount\": 12}'"),
    "stats": ("perdure stats", "perdure stats --since 7d --json", "perdure stats --dashboard > perdure.json"),
    "stop": ("perdure stop --all",),
    "tools": ("perdure tools ls", "perdure tools show shell.run"),
    "watch": ("perdure watch @last",),
}


def examples_of(command: str) -> str | None:
    """The examples of a command, in lines that stay as they are."""
    lines = EXAMPLES.get(command, ())
    return (
        "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))
        if lines
        else None
    )
