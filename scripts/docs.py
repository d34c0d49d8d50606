"""Writes the generated parts of the docs, or checks that they are not stale.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`. Everything else in the
docs is written by hand.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click
import measured
import modules
import msgspec
import page_types
import requirements
import routes
from click.testing import CliRunner
from pydantic import BaseModel

import perdure
from perdure import errors
from perdure.agents.contracts import Action, Contracts
from perdure.cli import COMMANDS, cli
from perdure.config import rules
from perdure.config.settings import SETTINGS
from perdure.core.events import EVENTS, Event
from perdure.core.values import NULL
from perdure.kits.coding.framing import templates
from perdure.observing.live import LIVE, PREFIX
from perdure.observing.metrics import METRICS
from perdure.plan import Plan
from perdure.plan.drawing.svg import svg
from perdure.plan.drawing.tree import plain_tree
from perdure.plan.model import parts
from perdure.plan.model.meaning import meanings
from perdure.plan.model.steps import STEP_TYPES, AnyStep, Grouping, Leading, Working
from perdure.tools import BUILTIN, AnyTool
from perdure.tools.builtin import HANDS
from perdure.tools.describing import in_words
from perdure.tools.rulebook import OURS
from perdure.tools.rules import Rule

NOTHING: Final = (None, (), {}, "", NULL, msgspec.NODEFAULT)
"""Defaults that go without saying."""
ROOT: Final = Path(__file__).parent.parent
PART: Final = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
RECORDS: Final = (
    parts.Retry,
    parts.Budget,
    parts.Questions,
    parts.Growth,
    parts.Adjusting,
    parts.AdjustmentRule,
    parts.Estimate,
    parts.Policy,
    parts.Files,
    parts.Commands,
    parts.Terms,
    parts.ToolCall,
    parts.ModelCall,
    parts.AgentCall,
    parts.Criterion,
    parts.Context,
    parts.Wait,
)


def help_texts() -> Iterator[str]:
    """What each command says about itself."""
    for words in _commands():
        result = CliRunner(env={"COLUMNS": "100"}).invoke(
            cli, [*words, "--help"], prog_name="perdure", terminal_width=100
        )
        command = " ".join(["perdure", *words])
        yield f"## {command}\n\n```text\n$ {command} --help\n{result.output.rstrip()}\n```\n\n"


def _commands() -> Iterator[list[str]]:
    """Every command as it is called, groups before what is in them."""
    yield []
    root = click.Context(cli)
    for name in COMMANDS:
        yield [name]
        command = cli.get_command(root, name)
        yield from ([name, each] for each in (command.commands if isinstance(command, click.Group) else ()))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _type(info: dict[str, Any]) -> str:
    """What may be written, in a few words, from the JSON Schema of a field."""
    return in_words(info, many="step")


def _rows(model: type, skip: frozenset[str] = frozenset()) -> Iterator[str]:
    yield "| field | type | default | meaning |\n|---|---|---|---|\n"
    schema = model.model_json_schema(by_alias=True, ref_template="{model}")  # type: ignore[attr-defined]
    here = schema["$defs"][model.__name__] if "properties" not in schema else schema
    for name, info in model.model_fields.items():  # type: ignore[attr-defined]
        written = info.alias or name
        if written in skip:
            continue
        default = (
            "required"
            if info.is_required()
            else ""
            if info.default in (None, (), {}, "") or isinstance(info.default, BaseModel)
            else f"`{json.dumps(info.default, default=str)}`".replace('"', "")
        )
        kind = _cell(_type(here["properties"][written]))
        yield f"| `{written}` | {kind} | {default} | {_cell(meanings(model)[name])} |\n"


def _names(model: type) -> frozenset[str]:
    return frozenset(info.alias or name for name, info in model.model_fields.items())  # type: ignore[attr-defined]


def fields() -> Iterator[str]:
    """Every field of the plan format, from the models themselves."""
    yield "## The plan\n\n"
    yield from _rows(Plan)
    seen: frozenset[str] = frozenset()
    for heading, model in (
        ("Every step", AnyStep),
        ("Steps that lead somewhere", Leading),
        ("Steps that do something", Working),
        ("Steps that hold steps", Grouping),
    ):
        yield f"\n## {heading}\n\n{(model.__doc__ or '').strip()}\n\n"
        yield from _rows(model, seen)
        seen |= _names(model)
    for kind, model in STEP_TYPES.items():
        yield f"\n## `{kind}`\n\n{(model.__doc__ or '').strip()} Also the fields of: {_sorts(model)}.\n\n"
        yield from _rows(model, _shared(model) | {"kind"})
    for record in RECORDS:
        yield f"\n## {record.__name__}\n\n{(record.__doc__ or '').strip()}\n\n"
        yield from _rows(record)


def _shared(model: type) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for sort in (AnyStep, Leading, Working, Grouping):
        found |= _names(sort) if issubclass(model, sort) else frozenset()
    return found


def _sorts(model: type) -> str:
    names = {
        AnyStep: "every step",
        Leading: "steps that lead somewhere",
        Working: "steps that do something",
        Grouping: "steps that hold steps",
    }
    return ", ".join(text for sort, text in names.items() if issubclass(model, sort))


def codes() -> Iterator[str]:
    """All error codes with their titles, linked to their pages."""
    yield "| code | meaning |\n|---|---|\n"
    for code in errors.codes():
        yield f"| [{code}](../../src/perdure/errors/pages/{code}.md) | {_cell(errors.title(code))} |\n"


def settings() -> Iterator[str]:
    """Every setting."""
    yield "| setting | takes | default | a project may set it | meaning |\n|---|---|---|---|---|\n"
    for each in SETTINGS:
        default = each.default if each.kind == "path" or not each.default else f"`{each.default}`"
        may = "no" if each.user_only else "yes"
        yield f"| `{each.name}` | {each.takes} | {default} | {may} | {_cell(each.meaning)} |\n"


def policy() -> Iterator[str]:
    """What only the user can say."""
    yield "| word | type | default | meaning |\n|---|---|---|---|\n"
    for table in ("tools", "sandbox", "secrets"):
        record, shared = rules.TABLES[table], _names(parts.Terms)
        for row in [*_rows(record, shared)][1:]:
            yield row.replace("| `", f"| `{table}.", 1)


def tools() -> Iterator[str]:
    """The built-in tools with their arguments."""
    yield from _tools(BUILTIN)


def hands() -> Iterator[str]:
    """The tools that touch the world, with their arguments."""
    yield from _tools(HANDS)


def _tools(known: Iterable[AnyTool]) -> Iterator[str]:
    yield "| tool | arguments | gives | |\n|---|---|---|---|\n"
    for each in sorted(known, key=lambda tool: tool.name):
        facts = each.facts()
        arguments = "<br>".join(_argument(name, info) for name, info in (facts.inputs or {})["properties"].items())
        yield f"| `{each.name}` | {arguments} | {_type(facts.returns or {})} | {_cell(each.summary)} |\n"


def _argument(name: str, info: dict[str, Any]) -> str:
    default = f" = `{json.dumps(info['default'])}`" if "default" in info else ""
    told = f": {_cell(info['description'])}" if "description" in info else ""
    return f"`{name}` ({_cell(_type(info))}){default}{told}"


def events() -> Iterator[str]:
    """Every fact, with what it says."""
    for word, event in EVENTS.items():
        yield f"## `{word}`\n\n{(event.__doc__ or '').strip()}\n\n"
        if event.__struct_fields__:
            yield from _facts(event)
        yield "\n"


def _facts(event: type[Event]) -> Iterator[str]:
    yield "| field | type | default | meaning |\n|---|---|---|---|\n"
    schema = msgspec.json.schema(event, ref_template="{name}")["$defs"][event.__name__]["properties"]
    for field in msgspec.structs.fields(event):
        default = "required" if field.required else "" if field.default in NOTHING else f"`{field.default}`".lower()
        kind = _cell(_type(schema[field.name]))
        yield f"| `{field.name}` | {kind} | {default} | {_cell(meanings(event)[field.name])} |\n"


def metrics() -> Iterator[str]:
    """Every metric, with the labels that it has."""
    yield "| metric | kind | labels | meaning |\n|---|---|---|---|\n"
    for metric in sorted((*METRICS.values(), *LIVE), key=lambda each: each.name):
        kind = "histogram" if metric.bounds else "gauge" if metric in LIVE else "counter"
        name = f"{PREFIX}{metric.name}{'_total' if kind == 'counter' else ''}"
        yield f"| `{name}` | {kind} | {', '.join(f'`{each}`' for each in metric.labels)} | {_cell(metric.meaning)} |\n"


def rules_on_failures() -> Iterator[str]:
    """Every word of a rule."""
    yield "| word | meaning |\n|---|---|\n"
    for field in msgspec.structs.fields(Rule):
        yield f"| `{field.name}` | {_cell(meanings(Rule)[field.name])} |\n"


def rulebook() -> Iterator[str]:
    """The table of failures, rules of a kind that stand together in a row."""
    yield "| what is seen | kind |\n|---|---|\n"
    for (kind, effect), alike in groupby(OURS, lambda rule: (rule.kind, rule.effect)):
        doubt = "; `in_doubt` where it may never be repeated" if effect == "unknown" else ""
        yield f"| {', '.join(f'`{rule.name}`' for rule in alike)} | `{kind}`{doubt} |\n"


def contracts() -> Iterator[str]:
    """Every field of a document for the planner from contracts."""
    yield from _rows(Contracts)
    yield f"\n### An action\n\n{(Action.__doc__ or '').strip().splitlines()[0]}\n\n"
    yield from _rows(Action)


def public() -> Iterator[str]:
    """Every name that `perdure` offers, with what it says of itself."""
    yield "| name | what it is |\n|---|---|\n"
    for name in sorted(perdure.__all__, key=str.lower):
        said = (inspect.getdoc(getattr(perdure, name)) or "").partition("\n\n")[0]
        yield f"| `{name}` | {_cell(said)} |\n"


def way(name: str) -> Iterator[str]:
    """A way of working on code, as `perdure draw` shows it."""
    yield f"```text\n{plain_tree(templates()[name].plan).rstrip()}\n```\n"


GENERATED: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "help": help_texts,
    "fields": fields,
    "codes": codes,
    "settings": settings,
    "policy": policy,
    "tools": tools,
    "hands": hands,
    "events": events,
    "metrics": metrics,
    "rules": rules_on_failures,
    "rulebook": rulebook,
    "contracts": contracts,
    "public": public,
    "testing": modules.testing,
    "modules": modules.modules,
    "rooms": modules.inner,
    "routes": routes.routes,
    "records": routes.records,
    "requirements": requirements.table,
    "open": requirements.still_open,
    "campaigns": measured.campaigns,
    "kills": measured.kills,
    "mutants": measured.mutants,
    **{f"way_{name}": partial(way, name) for name in templates()},
}


def _with_parts(text: str) -> str:
    def written(found: re.Match[str]) -> str:
        return found.group(1) + "".join(GENERATED[found.group(2)]()) + found.group(3)

    return PART.sub(written, text)


def wanted() -> Iterator[tuple[Path, str]]:
    """Every file with a generated part, as it should be."""
    for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))):
        text = path.read_text(encoding="utf-8")
        if PART.search(text):
            yield path, _with_parts(text)
    yield page_types.TYPES, page_types.text()
    yield ROOT / "docs/pictures/release.svg", svg(Plan.load(ROOT / "examples/plans/release.yaml"))


def main() -> int:
    """`--write` or `--check`."""
    stale = [(path, text) for path, text in wanted() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if sys.argv[1:] == ["--write"]:
        for path, text in stale:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
        return 0
    for path, _ in stale:
        print(f"stale: {path.relative_to(ROOT)} (run: make fix)")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
