"""Problems for planners that people have thought about for long, each with what its best plan takes."""

from contracts_by_lot import document


def ferry():
    """A wolf, a goat and a cabbage cross a river, and nobody eats anybody."""
    cross = {"effects": ["at(farmer, ?to:side)", "not at(farmer, ?from:side)"]}

    def carried(what, *others):
        moved = [f"at({what}, ?to)", f"not at({what}, ?from)"]
        requires = ["at(farmer, ?from:side)", f"at({what}, ?from)", *(f"at({each}, ?to)" for each in others)]
        return {"requires": requires, "effects": [*cross["effects"], *moved]}

    def alone(*others):
        return {**cross, "requires": ["at(farmer, ?from:side)", *(f"at({each}, ?to)" for each in others)]}

    actions = {
        "boat.goat": carried("goat"),
        "boat.wolf_from_cabbage": carried("wolf", "goat"),
        "boat.wolf_from_goat": carried("wolf", "cabbage"),
        "boat.cabbage_from_wolf": carried("cabbage", "goat"),
        "boat.cabbage_from_goat": carried("cabbage", "wolf"),
        "boat.alone": alone("goat"),
        "boat.alone_from_goat": alone("wolf", "cabbage"),
    }
    everybody = ("farmer", "wolf", "goat", "cabbage")
    given, wanted = ([f"at({each}, {side})" for each in everybody] for side in ("left", "right"))
    return document(given, wanted, actions, side=["left", "right"], who=list(everybody))


def hanoi(count):
    """A tower of discs, three pegs, and never a disc on a smaller one."""
    discs, pegs = [f"d{n}" for n in range(count)], ["a", "b", "c"]
    given = [f"smaller({one}, {each})" for n, one in enumerate(discs) for each in (*discs[n + 1 :], *pegs)]
    below = [*discs[1:], "a"]
    given += [f"on({one}, {each})" for one, each in zip(discs, below, strict=True)] + [
        "clear(d0)",
        "clear(b)",
        "clear(c)",
    ]
    move = {
        "requires": ["on(?disc, ?from:thing)", "clear(?disc)", "clear(?to:thing)", "smaller(?disc, ?to)"],
        "effects": ["on(?disc, ?to)", "clear(?from)", "not on(?disc, ?from)", "not clear(?to)"],
    }
    wanted = [f"on({one}, {each})" for one, each in zip(discs, [*discs[1:], "c"], strict=True)]
    return document(given, wanted, {"hand.move": move}, disc=discs, thing=[*discs, *pegs])


def sliding(tiles, width):
    """A puzzle of tiles in a rectangle; every second arrangement cannot be reached, and nothing simple shows it."""
    cells = range(len(tiles) + 1)
    near = [(a, b) for a in cells for b in cells if abs(a // width - b // width) + abs(a % width - b % width) == 1]
    given = [f"near(c{a}, c{b})" for a, b in near] + [f"at(t{tile}, c{n})" for n, tile in enumerate(tiles)]
    slide = {
        "requires": ["at(?tile, ?from:cell)", "free(?to:cell)", "near(?from, ?to)"],
        "effects": ["at(?tile, ?to)", "free(?from)", "not at(?tile, ?from)", "not free(?to)"],
    }
    wanted = [f"at(t{n + 1}, c{n})" for n in range(len(tiles))]
    objects = {"cell": [f"c{n}" for n in cells], "tile": [f"t{n}" for n in sorted(tiles)]}
    return document([*given, f"free(c{len(tiles)})"], wanted, {"puzzle.slide": slide}, **objects)


def bananas():
    """A monkey, a box, and bananas that hang too high."""
    actions = {
        "monkey.go": {
            "requires": ["monkey(?from:place)", "low"],
            "effects": ["monkey(?to:place)", "not monkey(?from)"],
        },
        "monkey.push": {
            "requires": ["monkey(?from:place)", "box(?from)", "low"],
            "effects": ["monkey(?to:place)", "box(?to)", "not monkey(?from)", "not box(?from)"],
            "cost": 3,
        },
        "monkey.climb": {"requires": ["monkey(?at:place)", "box(?at)", "low"], "effects": ["not low"]},
        "monkey.grasp": {"requires": ["monkey(?at:place)", "bananas(?at)", "not low"], "effects": ["has"], "cost": 2},
    }
    return document(["monkey(a)", "box(b)", "bananas(c)", "low"], ["has"], actions, place=["a", "b", "c"])


WRITTEN = {
    "ferry": (ferry, 7),
    "hanoi of three": (lambda: hanoi(3), 7),
    "hanoi of four": (lambda: hanoi(4), 15),
    "sliding": (lambda: sliding([8, 6, 7, 2, 5, 4, 3, 1], 3), 30),
    "sliding in two rows": (lambda: sliding([3, 1, 2, 5, 4], 3), None),
    "sliding in two rows, the other half": (lambda: sliding([2, 3, 1, 4, 5], 3), 14),
    "bananas": (bananas, 7),
}
"""Problems by name, with the cost of the best plan; None: there is none."""
