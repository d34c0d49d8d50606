"""Nothing stands in the source that nobody uses: every function, class and constant is named a second time."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/perdure"
CALLED_BY_OTHERS = {
    "src/perdure/agents/adapted/hooks.py": {
        "get_ordering", "prepare_model_request", "wrap_tool_execute", "get_wrapper_toolset", "request_stream",
    },  # by pydantic-ai
    "src/perdure/agents/planning.py": {"create_planning_tools"},  # by those who make an agent of their own (X2)
    "src/perdure/cli/__init__.py": {"format_commands"},  # by click
    "src/perdure/plan/writing.py": {"ignore_aliases"},  # by yaml
    "src/perdure/server/listening.py": {"capture_signals"},  # by uvicorn
    "src/perdure/testing/clock.py": {"_process_events", "_write_to_self"},  # by asyncio
    "src/perdure/tools/mcp/dialling.py": {"connect_unix_socket"},  # by httpcore
    "src/perdure/tools/net/wire.py": {"makefile", "readinto"},  # by http.client
    "src/perdure/tools/signature.py": {"field_title_should_be_set", "emit_warning"},  # by Pydantic
}  # fmt: skip
MADE_KNOWN_BY_DECORATORS = re.compile(
    r"validator|serializer|^tool\(|\.command|\.group|overload|override|^routes\.(get|post|delete)\("
)


def words_in(paths):
    found = Counter()
    for path in paths:
        found.update(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))
    return found


def defined(tree):
    """Names that a module gives to something, by the place where it does."""
    for each in ast.walk(tree):
        makes = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if makes and not any(MADE_KNOWN_BY_DECORATORS.search(ast.unparse(one)) for one in each.decorator_list):
            yield each.name
    for each in tree.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def test_everything_is_named_a_second_time():
    """In the source itself; what ships for tests may be named by tests alone."""
    used, tried = words_in(SOURCE.rglob("*.py")), words_in({*(ROOT / "tests").rglob("*.py")} - {Path(__file__)})
    alone = {}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in defined(tree):
            ships = path.is_relative_to(SOURCE / "testing") and tried[name]
            if used[name] == 1 and not name.startswith("__") and not ships:
                alone.setdefault(path.relative_to(ROOT).as_posix(), set()).add(name)
    assert alone == CALLED_BY_OTHERS
