"""Hold what the tests have run against a bar for each room.

    python scripts/bars.py              after `pytest --cov`, which leaves its data in .coverage
    python scripts/bars.py core policy  those rooms alone

A bar holds for statements and for branches, each by itself. What misses it is told by file and line. Some code runs
where nobody can look: in a sandbox, in a process that replaces itself. It is in a table, with the tests that see it
work from outside, and counts for nothing.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import coverage

ROOT: Final = Path(__file__).parent.parent
SANDBOX: Final = "src/perdure/tools/sandbox"
BARS: Final[dict[str, tuple[float, tuple[str, ...]]]] = {
    "everything": (95, ("src/perdure/*",)),
    "core": (100, ("src/perdure/core/*",)),
    "policy": (
        100,
        (*(f"src/perdure/config/{name}.py" for name in ("policy", "rules", "owned")), "src/perdure/tools/guard.py"),
    ),
    "journal": (95, ("src/perdure/journal/*",)),
    "changes": (95, ("src/perdure/tools/changes/*",)),
    "sandbox": (95, (f"{SANDBOX}/*",)),
}  # fmt: skip
_FENCE: Final = ("main", "_end_all", "_is_over", "_descendants", "_kill", "_become", "_limit", "_mine", "_fence",
                 "_allow", "_filter", "_called")  # fmt: skip
_KILLED: Final = "sandbox/test_running.py::test_when_the_engine_is_killed_its_commands_die"
ELSEWHERE: Final[dict[str, str]] = {
    f"{SANDBOX}/inside.py": "sandbox/test_probes.py::test_it_holds_here",
    f"{SANDBOX}/shim.py": "test_shell.py::test_hosts_that_are_named_and_allowed_are_reached",
    f"{SANDBOX}/starter.py": "test_shell.py::test_code_has_inputs_a_result_and_words",
    f"{SANDBOX}/overlay.py": "sandbox/test_stage.py::test_what_changed_is_found_and_nothing_is_real",
    **{f"{SANDBOX}/landlock.py::{each}": _KILLED for each in _FENCE},
    **{f"{SANDBOX}/warden.py::{each}": _KILLED for each in ("main", "_take", "_end")},
}
"""Files, or functions as `file::function`, that are started by their path on a Python that knows nothing of us, often
in a sandbox: and the test, below `tests/tools`, that sees them work."""


@dataclass
class Count:
    """Statements and branches, and those of them that were run."""

    statements: int = 0
    run: int = 0
    branches: int = 0
    taken: int = 0

    def add(self, summary: dict[str, int], sign: int = 1) -> None:
        """With those of a file or a function."""
        self.statements += sign * summary["num_statements"]
        self.run += sign * summary["covered_lines"]
        self.branches += sign * summary["num_branches"]
        self.taken += sign * summary["covered_branches"]

    @property
    def shares(self) -> tuple[float, float]:
        """How much of a hundred, of both."""
        return share(self.run, self.statements), share(self.taken, self.branches)


def share(part: int, whole: int) -> float:
    """How much of a hundred; of nothing, all."""
    return 100 * part / whole if whole else 100.0


def told(files: dict[str, Any], rooms: Iterable[str] = ()) -> Iterator[tuple[str, bool]]:
    """A line for each room and whether it holds; for those that miss their bar, what was not run."""
    for room, (bar, patterns) in ((each, BARS[each]) for each in rooms or BARS):
        count, missing = Count(), list[str]()
        for name, found in sorted(files.items()):
            if any(fnmatchcase(name, pattern) for pattern in patterns) and name not in ELSEWHERE:
                count.add(found["summary"])
                missing += _missing(name, found)
        for name, region in _outside(files, patterns):
            count.add(region["summary"], -1)
            missing = [each for each in missing if not _is_in(each, name, region)]
        holds = min(count.shares) >= bar
        lines, branches = count.shares
        yield f"{room:<10} {lines:6.2f} % of statements, {branches:6.2f} % of branches, bar {bar}", holds
        if not holds:
            yield "\n".join(f"  {each}" for each in missing), True


def _missing(name: str, found: dict[str, Any]) -> Iterator[str]:
    yield from (f"{name}:{line}" for line in found["missing_lines"])
    gone = set(found["missing_lines"])
    for line, to in found["missing_branches"]:
        if line not in gone:
            yield f"{name}:{line} to {to if to > 0 else 'the end'}"


def _outside(files: dict[str, Any], patterns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Functions that run elsewhere."""
    for each in ELSEWHERE:
        name, _, function = each.partition("::")
        if function and name in files and any(fnmatchcase(name, pattern) for pattern in patterns):
            yield name, files[name]["functions"][function]


def _is_in(missing: str, name: str, region: dict[str, Any]) -> bool:
    path, _, rest = missing.partition(":")
    line = int(rest.split()[0])
    return path == name and line in {*region["missing_lines"], *region["executed_lines"]}


def main() -> None:
    """Tell how each room stands; 1 if one of them misses its bar."""
    files = measured()
    missed = False
    for line, holds in told(files, sys.argv[1:]):
        print(line if holds else f"{line}  MISSED")
        missed |= not holds
    sys.exit(missed)


def measured() -> dict[str, Any]:
    """What was run of each file, by its path from here."""
    watch = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"))
    watch.load()
    if not watch.get_data().measured_files():
        sys.exit("nothing measured yet: run make test")
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        watch.json_report(outfile=file.name)
        files: dict[str, Any] = json.loads(Path(file.name).read_bytes())["files"]
    return {str(Path(name).resolve().relative_to(ROOT)): found for name, found in files.items()}


if __name__ == "__main__":
    main()
