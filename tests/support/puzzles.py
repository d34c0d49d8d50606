"""Puzzles made from seeds, with somebody who proposes moves without knowing much, and rules of thumb for how good they are.

A puzzle has a state, moves from a state, and a goal. Nobody here looks ahead to the end: `propose` draws moves by lot with a
slight preference, the score is a rule of thumb. The lot hangs on the state and on the question, and on nothing else:
so the same question is always answered the same, after a crash too.
"""

import json
import random
import re
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

from perdure.agents.agent import Agent
from perdure.agents.roster import Roster
from perdure.models.answering import outcome_of
from perdure.plan import Plan
from perdure.plan.checks import check
from perdure.ports import Answer, Request
from perdure.testing.models import calls
from perdure.testing.worlds import World

# ------------------------------------------------------------------------------- the game of 24


@dataclass(frozen=True)
class TwentyFour:
    """Make 24 of four numbers with +, -, * and /."""

    seed: int
    depth = 3

    @property
    def start(self):
        rng = random.Random(self.seed)
        while not _makes_24(numbers := [rng.randint(1, 13) for _ in range(4)]):
            pass
        return {"left": [str(each) for each in numbers], "said": ""}

    def moves(self, state):
        """Every state one step on, in a fixed order."""
        return [{"left": list(left), "said": said} for left, said in _steps_from(tuple(state["left"]))]

    def is_solved(self, state):
        return state["left"] == ["24"]

    def score(self, state):
        """A rule of thumb: exact for one number and for two, a guess for more."""
        return _rule_of_thumb(tuple(state["left"]))


@lru_cache(maxsize=100_000)
def _steps_from(left):
    numbers = [Fraction(each) for each in left]
    found = {}
    for a, b in permutations(range(len(numbers)), 2):
        rest = [each for n, each in enumerate(numbers) if n not in (a, b)]
        for sign, value in _results(numbers[a], numbers[b]):
            after = tuple(str(each) for each in sorted([*rest, value]))
            found.setdefault(after, f"{numbers[a]} {sign} {numbers[b]} = {value}")
    return tuple(found.items())


@lru_cache(maxsize=100_000)
def _rule_of_thumb(left):
    numbers = [Fraction(each) for each in left]
    if len(numbers) == 1:
        return 1.0 if numbers[0] == 24 else 0.0
    if len(numbers) == 2:
        return 0.9 if any(value == 24 for _, value in _both(*numbers)) else 0.05
    return 0.2 + 0.5 / (1 + float(min(abs(24 - value) for value in _rough(numbers))))


def _results(a, b):
    yield "+", a + b
    yield "-", a - b
    yield "*", a * b
    if b:
        yield "/", a / b


def _both(a, b):
    return [*_results(a, b), *_results(b, a)]


def _rough(numbers):
    """What comes out if everything is done from left to right."""
    values = {numbers[0]}
    for each in numbers[1:]:
        values = {result for value in values for _, result in _both(value, each)}
    return values


def _makes_24(numbers):
    """Whether there is a way; asked when a puzzle is made, and by nobody who solves it."""
    if len(numbers) == 1:
        return numbers[0] == 24
    state = {"left": [str(each) for each in numbers]}
    return any(_makes_24([Fraction(each) for each in move["left"]]) for move in TwentyFour(0).moves(state))


# ------------------------------------------------------------------------------- mazes


@dataclass(frozen=True)
class Maze:
    """Find the way out: one stretch after another, up to the next fork."""

    seed: int
    depth = 12
    side = 6

    @property
    def walls(self):
        return _walls(self)

    def _draw(self):
        rng = random.Random(self.seed)
        while True:
            cells = [(x, y) for x in range(self.side) for y in range(self.side)]
            walls = {each for each in cells if rng.random() < 0.3} - {(0, 0), (self.side - 1,) * 2}
            if self._way_out(walls):
                return walls

    def _way_out(self, walls):
        seen, line = {(0, 0)}, deque([(0, 0)])
        while line:
            x, y = line.popleft()
            for at in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if at not in seen and at not in walls and all(0 <= each < self.side for each in at):
                    seen.add(at)
                    line.append(at)
        return (self.side - 1,) * 2 in seen

    @property
    def start(self):
        return {"at": [0, 0], "been": ["0,0"]}

    def moves(self, state):
        """Up to three cells in a direction, never back to where one was."""
        walls, been = self.walls, set(state["been"])
        found = []
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            (x, y), path = state["at"], []
            for _ in range(3):
                x, y = x + dx, y + dy
                if (x, y) in walls or not (0 <= x < self.side and 0 <= y < self.side) or f"{x},{y}" in been:
                    break
                path.append(f"{x},{y}")
                found.append({"at": [x, y], "been": [*state["been"], *path]})
        return found

    def is_solved(self, state):
        return state["at"] == [self.side - 1] * 2

    def score(self, state):
        """A rule of thumb: how near it is, as the crow flies; and whether one can go on at all."""
        if self.is_solved(state):
            return 1.0
        far = sum(self.side - 1 - each for each in state["at"]) / (2 * self.side)
        return 0.9 * (1 - far) if self.moves(state) else 0.01


@lru_cache(maxsize=1000)
def _walls(maze):
    return maze._draw()


# ------------------------------------------------------------------------------- broken plans


@dataclass(frozen=True)
class BrokenPlan:
    """A plan whose steps need what is not there, or each other; mend it, one `needs` after another."""

    seed: int
    depth = 6
    size = 6

    @property
    def start(self):
        rng = random.Random(self.seed)
        while True:
            needs = [rng.choice([f"s{n}" for n in range(self.size)] + ["gone", "lost"]) for _ in range(1, self.size)]
            state = {"needs": needs}
            if self._problems(state) > 2:
                return state

    def moves(self, state):
        """Let a step need another one."""
        known = [f"s{n}" for n in range(self.size)]
        found = [
            [*state["needs"][:at], name, *state["needs"][at + 1 :]]
            for at, old in enumerate(state["needs"])
            for name in known
            if name not in (old, f"s{at + 1}")
        ]
        return [{"needs": each} for each in found]

    def is_solved(self, state):
        return not self._problems(state)

    def score(self, state):
        """The fewer problems the better."""
        return 1 / (1 + self._problems(state))

    def _problems(self, state):
        return _problems(tuple(state["needs"]))


@lru_cache(maxsize=100_000)
def _problems(needs):
    steps = [{"id": "s0", "tool": "flow.echo"}]
    steps += [{"id": f"s{n}", "tool": "flow.echo", "needs": [need]} for n, need in enumerate(needs, 1)]
    plan = Plan.model_validate({"mode": "graph", "steps": steps})
    return sum(each.severity == "error" for each in check(plan))


PUZZLES = {"game of 24": TwentyFour, "maze": Maze, "broken plan": BrokenPlan}

# ------------------------------------------------------------------------------- somebody who proposes


def propose(puzzle, state, question, count=1):
    """Some moves from a state, different ones, by a lot that hangs on the state and the question."""
    rng = random.Random(f"{puzzle.seed} {json.dumps(state, sort_keys=True)} {question}")
    moves = puzzle.moves(state)
    chosen = []
    while moves and len(chosen) < count:
        weights = [0.3 + puzzle.score(each) for each in moves]
        [move] = rng.choices(moves, weights)
        moves.remove(move)
        chosen.append(move)
    return chosen


def roll_out(puzzle, question):
    """A whole line of moves, to its end, as one who answers at once would say it."""
    state = puzzle.start
    for n in range(puzzle.depth):
        move = propose(puzzle, state, f"{question} {n}")
        if not move:
            return state
        state = move[0]
        if puzzle.is_solved(state):
            return state
    return state


# ------------------------------------------------------------------------------- players

STATE = {"type": "object"}
RATE = {"tool": "puzzle.rate"}


def player(name, puzzle):
    """How a strategy plays: its options, and what its model answers to a call of a step.

    All have the same proposer. The rule of thumb is no call of a model: who searches asks it of every proposal, and who
    answers several times is judged by it. Who goes step by step is told whether it is solved, and not the score.
    """
    options, say = {
        "single": ({}, _at_once),
        "sample": ({"answers": 64, "judge": RATE, "goal": 1}, _at_once),
        "react": ({"rounds": 1000}, _step_by_step),
        "tree": (_search(puzzle), _proposal),
        "tree, together": ({**_search(puzzle), "together": True}, _proposals),
    }[name]
    return options, lambda call, step: say(puzzle, call, step)


def _search(puzzle):
    """As wide as the budget allows, up to eight; back to what was dropped as long as there is something left."""
    how = {"width": 8, "beam": 4, "depth": puzzle.depth, "again": 1000}
    return {**how, "thought": STATE, "judge": RATE, "goal": 1}


def _at_once(puzzle, call, step):
    return json.dumps(roll_out(puzzle, step))


def _chosen(puzzle, call):
    found = re.search(r"This was chosen:\n(.*?)\n\n", call.arguments["prompt"], re.DOTALL)
    return json.loads(found[1]) if found else puzzle.start


def _proposal(puzzle, call, step):
    found = propose(puzzle, _chosen(puzzle, call), step)
    return json.dumps(found[0]) if found else "there is no way on"


def _proposals(puzzle, call, step):
    most = int(re.search(r"At most (\d+)", call.arguments["prompt"])[1])
    return json.dumps({"thoughts": propose(puzzle, _chosen(puzzle, call), step, most)})


def _step_by_step(puzzle, call, step):
    """Move on from the last result; where there is no way on, begin again from the start."""
    results = call.arguments.get("results", [])
    seen = results[-1]["output"]["data"] if results else {"state": puzzle.start, "moves": 0, "solved": False}
    if seen["solved"]:
        return json.dumps(seen["state"])
    moves = propose(puzzle, seen["state"], step) if seen["moves"] < puzzle.depth else []
    first = seen["moves"] if moves else 0
    moves = moves or propose(puzzle, puzzle.start, step)
    return calls("puzzle.move", state=moves[0], moves=first + 1)


def tools_for(puzzle):
    """What there is to be called: a move, and the rule of thumb."""
    return {
        "puzzle.rate": lambda output: puzzle.score(output if isinstance(output, dict) else json.loads(output)),
        "puzzle.move": lambda state, moves: {"state": state, "moves": moves, "solved": puzzle.is_solved(state)},
    }


def play(name, puzzle, budget):
    """Whether a puzzle is solved with so many calls of a model, and how many it took."""
    options, say = player(name, puzzle)
    me = Agent(name="me", strategy=name.partition(",")[0], options=options, tools=("puzzle.*",))
    tools = tools_for(puzzle)

    def script(command):
        return lambda call: (
            _answer(call, say(call, command.step)) if call.kind == "model" else tools[call.name](**call.arguments)
        )

    plan = {
        "steps": [{"id": "ag", "agent": "me", "task": "Solve it.", "budget": {"calls": budget}}],
        "output": "${steps.ag.output}",
    }
    world = World(plan, script, strategies=Roster([me]).strategies()).run()
    asked = sum(made.call.kind == "model" for made in world.made)
    return _is_solved(puzzle, world.output), asked


def _answer(call, said):
    answer = said if isinstance(said, Answer) else Answer(said)
    request = Request(call.name, (), returns=call.arguments.get("returns"))
    return outcome_of(request, answer, "calls")


def _is_solved(puzzle, output):
    if isinstance(output, dict):
        output = output.get("answer")
    state = json.loads(output) if isinstance(output, str) else output
    return bool(state) and puzzle.is_solved(state)
