"""Finds in Python source the ways by which data becomes code: each is a rule, a place and a line."""

import ast
from typing import NamedTuple

NAMES = {"eval", "exec", "compile", "__import__", "execfile"}
MODULES = {
    "pickle", "_pickle", "cPickle", "pickletools", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle",
    "copyreg", "jinja2", "mako", "chevron", "imp", "code", "codeop", "commands", "pty", "xmlrpc",
}  # fmt: skip
"""Whoever imports them wants objects, templates or code out of data."""
FROM = {
    "string": {"Template", "Formatter"}, "types": {"FunctionType", "CodeType", "LambdaType"}, "os": {"system", "popen"},
    "subprocess": {"getoutput", "getstatusoutput"}, "asyncio": {"create_subprocess_shell"}, "ast": {"literal_eval"},
    "shutil": {"unpack_archive"}, "operator": {"methodcaller"}, "builtins": NAMES, "logging.config": {"dictConfig", "fileConfig"},
    "yaml": {
        "load", "load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all", "Loader", "UnsafeLoader",
        "FullLoader", "CLoader", "CUnsafeLoader", "CFullLoader", "YAMLObject",
    },
    "numpy": {"load"}, "torch": {"load"}, "pandas": {"read_pickle"}, "pydantic": {"ImportString", "PyObject"},
}  # fmt: skip
"""Names of modules that are harmless apart from these."""
METHODS = {"extractall", "format_map", "__reduce__", "__reduce_ex__", "__setstate__", "unpack_archive", "exec_module"}
"""Whatever they are called on."""
BY_NAME = {
    "import_module",
    "getattr",
    "setattr",
    "delattr",
    "attrgetter",
    "load_module",
    "run_path",
    "run_module",
    "EntryPoint",
}
"""Harmless with a name that stands there; else a name that came from elsewhere decides what is called."""


class Found(NamedTuple):
    rule: str
    where: str
    """The functions and classes around it, from the outside in."""
    line: int


def found_in(source: str) -> list[Found]:
    """All that a source has of it."""
    finder = _Finder()
    tree = ast.parse(source)
    finder.texts = _texts_of(tree)
    finder.visit(tree)
    return finder.found


def _texts_of(tree: ast.Module) -> set[str]:
    """Names that stand for one text in the whole module."""
    names: set[str] = set()
    for each in tree.body:
        target = (
            each.target
            if isinstance(each, ast.AnnAssign)
            else each.targets[0]
            if isinstance(each, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and _is_text(getattr(each, "value", None)):
            names.add(target.id)
    return names


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Finder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Found] = []
        self.texts: set[str] = set()
        self.around: list[str] = []
        self.modules: dict[str, str] = {}
        """What a name here stands for."""

    def _note(self, rule: str, node: ast.AST) -> None:
        self.found.append(Found(rule, ".".join(self.around), getattr(node, "lineno", 0)))

    def _inside(self, node: ast.AST) -> None:
        self.around.append(node.name)
        if node.name in METHODS:
            self._note(node.name, node)
        self.generic_visit(node)
        self.around.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _inside  # noqa: N815  as `ast` calls them

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.modules[each.asname or each.name.partition(".")[0]] = (
                each.name if each.asname else each.name.partition(".")[0]
            )
            if each.name.partition(".")[0] in MODULES:
                self._note(each.name.partition(".")[0], node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level == 0 and module.partition(".")[0] in MODULES:
            self._note(module.partition(".")[0], node)
        for each in node.names:
            self.modules[each.asname or each.name] = f"{module}.{each.name}"
            if node.level == 0 and each.name in FROM.get(module, ()):
                self._note(f"{module}.{each.name}", node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES and isinstance(node.ctx, ast.Load):
            self._note(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._owner(node.value)
        if node.attr in FROM.get(owner, ()):
            self._note(f"{owner}.{node.attr}", node)
        if node.attr in METHODS:
            self._note(node.attr, node)
        self.generic_visit(node)

    def _owner(self, node: ast.expr) -> str:
        """The module that an expression names."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, "")
        return f"{self._owner(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if any(each.arg == "shell" and not _is_false(each.value) for each in node.keywords):
            self._note("shell=True", node)
        if called == "format" and isinstance(node.func, ast.Attribute) and not self._is_fixed(node.func.value):
            self._note("format", node)
        if called in BY_NAME and not self._is_named(called, node):
            self._note(called, node)
        self.generic_visit(node)

    def _is_fixed(self, node: ast.expr) -> bool:
        return _is_text(node) or (isinstance(node, ast.Name) and node.id in self.texts)

    @staticmethod
    def _is_named(called: str, node: ast.Call) -> bool:
        place = 1 if called in {"getattr", "setattr", "delattr", "EntryPoint"} else 0
        return len(node.args) > place and _is_text(node.args[place])


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
