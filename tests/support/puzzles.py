"""Puzzles made from seeds, with somebody who proposes moves without knowing much, and rules of thumb for how good they are.

A puzzle has a state, moves from a state, and a goal. Nobody here looks ahead to the end: `propose` draws moves by lot with a
slight preference, the score is a rule of thumb. The lot hangs on the state and on the question, and on nothing else:
so the same question is always answered the same, after a crash too.
"""

import json
import random
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

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
        numbers = [Fraction(each) for each in state["left"]]
        found = {}
        for a, b in permutations(range(len(numbers)), 2):
            rest = [each for n, each in enumerate(numbers) if n not in (a, b)]
            for sign, value in _results(numbers[a], numbers[b]):
                left = [str(each) for each in sorted([*rest, value])]
                found.setdefault(
                    json.dumps(left), {"left": left, "said": f"{numbers[a]} {sign} {numbers[b]} = {value}"}
                )
        return list(found.values())

    def is_solved(self, state):
        return state["left"] == ["24"]

    def score(self, state):
        """A rule of thumb: exact for one number and for two, a guess for more."""
        numbers = [Fraction(each) for each in state["left"]]
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
    depth = 8
    side = 9

    @property
    def walls(self):
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


PUZZLES = {"game of 24": TwentyFour, "maze": Maze}

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
