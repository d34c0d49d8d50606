"""Writes the generated parts of the docs, or checks that they are not stale.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`. Everything else in the
docs is written by hand.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from perdure import errors
from perdure.cli import COMMANDS, cli
from perdure.plan import Plan
from perdure.plan.drawing.svg import svg
from perdure.plan.model import parts
from perdure.plan.model.steps import STEP_TYPES, AnyStep, Grouping, Leading, Working

ROOT: Final = Path(__file__).parent.parent
PART: Final = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
RECORDS: Final = (
    parts.Retry,
    parts.Budget,
    parts.Estimate,
    parts.Policy,
    parts.Files,
    parts.Commands,
    parts.ToolCall,
    parts.ModelCall,
    parts.AgentCall,
    parts.Criterion,
    parts.Context,
    parts.Wait,
)


def help_texts() -> Iterator[str]:
    """What each command says about itself."""
    for name in ("", *COMMANDS):
        words = [name] if name else []
        result = CliRunner(env={"COLUMNS": "100"}).invoke(
            cli, [*words, "--help"], prog_name="perdure", terminal_width=100
        )
        command = " ".join(["perdure", *words])
        yield f"## {command}\n\n```text\n$ {command} --help\n{result.output.rstrip()}\n```\n\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _rows(model: type, skip: frozenset[str] = frozenset()) -> Iterator[str]:
    yield "| field | default | meaning |\n|---|---|---|\n"
    for name, info in model.model_fields.items():  # type: ignore[attr-defined]
        written = info.alias or name
        if written in skip:
            continue
        default = (
            "required" if info.is_required() else "" if info.default in (None, (), {}, "") else f"`{info.default}`"
        )
        yield f"| `{written}` | {default} | {_cell(info.description or '')} |\n"


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
        groups = "Grouping" if issubclass(model, Grouping) else "Working" if issubclass(model, Working) else "Leading"
        around = f" Also the fields of: {_sorts(model)}." if groups else ""
        yield f"\n## `{kind}`\n\n{(model.__doc__ or '').strip()}{around}\n\n"
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


GENERATED: Final[dict[str, Callable[[], Iterator[str]]]] = {"help": help_texts, "fields": fields, "codes": codes}


def _with_parts(text: str) -> str:
    def written(found: re.Match[str]) -> str:
        return found.group(1) + "".join(GENERATED[found.group(2)]()) + found.group(3)

    return PART.sub(written, text)


def wanted() -> Iterator[tuple[Path, str]]:
    """Every file with a generated part, as it should be."""
    for path in sorted(ROOT.glob("docs/**/*.md")):
        text = path.read_text(encoding="utf-8")
        if PART.search(text):
            yield path, _with_parts(text)
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
