"""Small ways in which code can be wrong: each is one change in the body of one function."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, Final, cast

Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = Callable[[], object]

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COUNTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: in which function of which file, and which one of all that can be made there."""

    path: Path
    function: str
    first: int
    """The line on which the function begins, decorators included, as its code object says."""
    number: int

    def told(self) -> tuple[int, str, str]:
        """The line of its statement, and how that reads before and after."""
        statement, change = self._found(ast.parse(self.path.read_bytes()))
        before = _told(statement)
        change()
        return statement.lineno, before, _told(statement)

    def code(self) -> CodeType:
        """The function as it would be."""
        tree = ast.parse(self.path.read_bytes())
        self._found(tree)[1]()
        whole = compile(ast.fix_missing_locations(tree), str(self.path), "exec")
        return next(each for each in _codes(whole) if self.is_of(each))

    def is_of(self, code: CodeType) -> bool:
        """Whether it is the code of this function."""
        return (code.co_filename, code.co_qualname, code.co_firstlineno) == (str(self.path), self.function, self.first)

    def _found(self, tree: ast.Module) -> tuple[ast.stmt, Change]:
        function = next(each for name, each in _functions(tree) if (name, _first(each)) == (self.function, self.first))
        return list(_changes(function))[self.number]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All of a file. What stands outside of functions is not changed: it has happened before a test begins."""
    for name, function in _functions(ast.parse(path.read_bytes())):
        for number, _ in enumerate(_changes(function)):
            yield Mutant(path, name, _first(function), number)


def _told(statement: ast.stmt) -> str:
    """A statement as it reads, without what stands in it."""
    return ast.unparse(ast.fix_missing_locations(statement)).split(":\n")[0].replace("\n", " ")


def _first(function: Function) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _functions(tree: ast.Module | ast.ClassDef, inside: str = "") -> Iterator[tuple[str, Function]]:
    for each in tree.body:
        if isinstance(each, Function):
            yield inside + each.name, each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{inside}{each.name}.")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


# ------------------------------------------------------------ what can be wrong


def _changes(function: Function) -> Iterator[tuple[ast.stmt, Change]]:
    """Each change, with the statement that it is in. Every one of them is to be made in a tree of its own."""
    for statement in _statements(function.body):
        yield from ((statement, change) for node in _own_nodes(statement) for change in _wrong(node))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for at, statement in enumerate(body):
        if at == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(inner.body)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and the expressions in it, without annotations and without other statements."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.JoinedStr):
            continue  # a sentence for people
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                waiting += [each for each in _listed(value) if not isinstance(each, ast.stmt | ast.ExceptHandler)]


def _listed(value: Any) -> list[ast.AST]:
    found = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [each for each in found if isinstance(each, ast.AST)]


def _wrong(node: ast.AST) -> Iterator[Change]:  # noqa: C901, PLR0912  a table
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                yield partial(node.ops.__setitem__, at, _COMPARED[type(operator)]())
        case ast.BoolOp():
            yield lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _COUNTED:
            yield lambda: setattr(node, "op", _COUNTED[type(node.op)]())
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare):
            yield lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension():
            for at in range(len(node.ifs)):
                yield partial(node.ifs.pop, at)
        case ast.match_case(guard=ast.expr() as guard):
            yield lambda: setattr(node, "guard", ast.UnaryOp(ast.Not(), guard))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield lambda: setattr(node, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield lambda: setattr(node, "value", ast.Constant(None))
        case ast.Break() | ast.Continue():
            yield lambda: setattr(node, "__class__", ast.Continue if isinstance(node, ast.Break) else ast.Break)
        case ast.Constant(value=bool() | int() | float() | str() as value):
            if (other := _other(value)) is not None:
                yield lambda: setattr(node, "value", other)
        case _:
            pass


def _other(value: bool | float | str) -> object:  # noqa: FBT001  what stands in the code
    """Another value of its kind; None for sentences, which are for people."""
    match value:
        case bool():
            return not value
        case str():
            return None if " " in value else f"{value}x"
        case _:
            return value + 1
