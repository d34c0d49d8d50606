"""How strategies play the same puzzles with the same number of calls of a model, and what growing a step costs.

Run with `python bench/strategies.py`; it writes the tables of `bench/strategies.md`. No model is asked: whoever
proposes draws moves by lot, from seeds, so that everybody gets the same numbers.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from time import process_time

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))

from figures import Figure, tell  # noqa: E402  the path is set above
from puzzles import PUZZLES, play  # noqa: E402  the path is set above
from thinkers import agent, world_of  # noqa: E402  as above

from perdure.core import events as e  # noqa: E402  as above
from perdure.core.growth import Finish, Move, Strategy, View  # noqa: E402  as above

SEEDS = range(50)
BUDGETS = (6, 12, 24)
WAYS = ("single", "sample", "react", "tree", "tree, together")
TABLES, COSTS = "solved", "costs"
"""The parts of `bench/strategies.md` that are written from here."""


def table(budget: int) -> str:
    """One table: who solves how many."""
    head = f"| with {budget} calls | " + " | ".join(PUZZLES) + " |\n|---|" + "--:|" * len(PUZZLES)
    return "\n".join([head, *(_row(way, budget) for way in WAYS)]) + "\n"


def _row(way: str, budget: int) -> str:
    cells: list[str] = []
    for kind in PUZZLES.values():
        played = [play(way, kind(seed), budget) for seed in SEEDS]
        solved, calls = sum(good for good, _ in played), sum(asked for _, asked in played) / len(played)
        cells.append(f"{solved} ({calls:.1f})")
    print(budget, way, *cells, flush=True)
    return f"| {way} | " + " | ".join(cells) + " |"


GROWING = {
    "tree": (lambda steps: {"width": 2, "beam": 1, "depth": steps // 4, "judge": {"tool": "x.rate"}}, "word"),
    "reflexion": (lambda steps: {"rounds": steps // 3, "accept": ["false"], "strategy": "single"}, '{"lesson": "x"}'),
}


def _middling(output: object) -> float:
    return 0.5 if output else 0.0


@dataclass(frozen=True)
class Grown:
    """What a strategy has grown: how many steps, and milliseconds for each, with the core and without."""

    strategy: str
    steps: int
    whole: float
    inside: float

    @property
    def row(self) -> str:
        """It in a table."""
        return f"| {self.strategy} | {self.steps:,} | {self.whole:.2f} ms | {self.inside:.2f} ms |"

    @property
    def figure(self) -> Figure:
        """It beside its bar."""
        return Figure(f"{self.strategy}, {self.steps:,} grown steps: each", self.whole, "ms", most=1)


def cost(strategy: str, steps: int) -> Grown:
    """What growing so many steps takes of the processor."""
    options, said = GROWING[strategy]
    world = world_of(agent(strategy, options(steps)), lambda *_: said, {"x.rate": _middling})
    inside = 0.0

    def timed(known: Strategy) -> Strategy:
        def asked(view: View) -> Move | Finish | None:
            nonlocal inside
            began = process_time()
            try:
                return known(view)
            finally:
                inside += process_time() - began

        return asked

    world.rules.strategies = {name: timed(each) for name, each in world.rules.strategies.items()}
    began = process_time()
    world.run()
    whole = process_time() - began
    grown = sum(len(event.add) for event in world.find(e.StepsGrown))
    return Grown(strategy, grown, 1000 * whole / grown, 1000 * inside / grown)


def main() -> None:
    """Play, measure, and write it down."""
    cost("tree", 200)
    head = "| | steps | a step | of that the strategy |\n|---|--:|--:|--:|"
    grown = [cost(strategy, steps) for strategy in GROWING for steps in (1000, 4000)]
    write(COSTS, "\n".join([head, *(each.row for each in grown)]))
    write(TABLES, "\n".join(table(budget) for budget in BUDGETS))
    tell(each.figure for each in grown)


def write(part: str, text: str) -> None:
    """Put a text where it belongs."""
    page = HERE / "strategies.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {part} -->")
    _, _, after = rest.partition("<!-- end -->")
    page.write_text(f"{before}<!-- {part} -->\n\n{text.strip()}\n\n<!-- end -->{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
