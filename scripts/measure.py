"""Measures source code: how long functions and files are, how much is typed, told and public.

    scripts/measure.py                      this project, its longest functions and its largest files
    scripts/measure.py DIRECTORY …          packages of others, for comparison

A function is as long as its lines from `def` to its end, without its docstring, blank lines and lines of comment only.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Final

ROOT: Final = Path(__file__).parent.parent
MOST: Final = 10
"""How many of the longest are named."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
_QUIET: Final = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@dataclass(frozen=True, slots=True)
class File:
    """A file of code."""

    path: Path
    tree: ast.Module
    code: frozenset[int]
    """The numbers of lines with code in them."""
    comments: int
    lines: int


def read(path: Path) -> File:
    """One file, with what stands in its lines."""
    text = path.read_text(encoding="utf-8")
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        comments += token.type == tokenize.COMMENT
        if token.type not in _QUIET:
            code.update(range(token.start[0], token.end[0] + 1))
    tree = ast.parse(text)
    told = {line for each in _docstrings(tree) for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    return File(path, tree, frozenset(code - told), comments, text.count("\n"))


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """Every text that stands for itself."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
            yield each.value


def functions(file: File) -> Iterator[tuple[int, str]]:
    """Each function with its length."""
    for each in ast.walk(file.tree):
        if isinstance(each, Function):
            last = each.end_lineno or each.lineno
            yield (
                len(file.code.intersection(range(each.lineno, last + 1))),
                f"{'/'.join(file.path.parts[-2:])} {each.name}",
            )


def is_typed(function: Function) -> bool:
    """Whether its result and all its arguments have types."""
    every = function.args
    given = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
    named = [each for each in given if each is not None and each.arg not in {"self", "cls", "_"}]
    return function.returns is not None and all(each.annotation for each in named)


def _classes(files: Sequence[File]) -> list[ast.ClassDef]:
    return [each for file in files for each in ast.walk(file.tree) if isinstance(each, ast.ClassDef)]


def exceptions(files: Sequence[File]) -> int:
    """How many classes are errors: those built on something that is one, wherever that stands."""
    classes = _classes(files)
    known = {
        "Exception",
        "BaseException",
        "ValueError",
        "RuntimeError",
        "TypeError",
        "KeyError",
        "OSError",
        "LookupError",
    }
    before = -1
    while len(known) != before:
        before = len(known)
        known |= {each.name for each in classes if any(_name(base) in known for base in each.bases)}
    return sum(any(_name(base) in known for base in each.bases) for each in classes)


def _name(base: ast.expr) -> str:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return name if not name.endswith(("Error", "Exception")) else "Exception"


def public(files: Sequence[File]) -> int:
    """How many names the package offers at its top: those in `__all__`, or imported there under their own name."""
    top = min(files, key=lambda file: len(file.path.parts) if file.path.name == "__init__.py" else sys.maxsize)
    for each in top.tree.body:
        if isinstance(each, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in each.targets):
            return len(each.value.elts) if isinstance(each.value, ast.List | ast.Tuple) else 0
    return sum(len(each.names) for each in top.tree.body if isinstance(each, ast.ImportFrom))


def row(name: str, files: Sequence[File]) -> str:
    """A package in numbers."""
    lengths = [length for file in files for length, _ in functions(file)]
    every = [each for file in files for each in ast.walk(file.tree) if isinstance(each, Function)]
    sizes = sorted(file.lines for file in files)
    code, comments = sum(len(file.code) for file in files), sum(file.comments for file in files)
    cells: list[object] = [
        name, len(files), code, round(median(lengths)), round(quantiles(lengths, n=10)[-1]), max(lengths),
        round(median(sizes)), sizes[-1], f"{sum(map(is_typed, every)) / len(every):.0%}", f"{comments / code:.1%}",
        exceptions(files), public(files),
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


HEAD: Final = """| package | modules | lines of code | function: median | p90 | longest | file: median | largest | typed | comments | errors | public |
|---|---|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  a head is one line


def measured(directory: Path) -> list[File]:
    """All code of a package, tests apart."""
    inside = (path for path in sorted(directory.rglob("*.py")) if "tests" not in path.relative_to(directory).parts)
    return [read(path) for path in inside]


def main() -> None:
    """Ours, or those that are named."""
    print(HEAD)
    if sys.argv[1:]:
        for each in map(Path, sys.argv[1:]):
            print(row(each.name, measured(each)))
        return
    files = measured(ROOT / "src/perdure")
    print(row("perdure", files))
    longest = sorted((each for file in files for each in functions(file)), reverse=True)[:MOST]
    largest = sorted(((file.lines, str(file.path.relative_to(ROOT / "src/perdure"))) for file in files), reverse=True)
    print("\nThe longest functions:", *(f"  {length:4} {name}" for length, name in longest), sep="\n")
    print("\nThe largest files:", *(f"  {length:4} {name}" for length, name in largest[:MOST]), sep="\n")


if __name__ == "__main__":
    main()
