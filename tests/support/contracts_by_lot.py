"""Problems for planners, drawn by lot: documents as people write them, in which each call hands its objects over."""

from contracts_judge import variables


def document(given, wanted, actions, **objects):
    called = {name: {**each, "with": {v: f"?{v}" for v in variables(each)}} for name, each in actions.items()}
    return {"objects": objects, "given": sorted(set(given)), "wanted": wanted, "actions": called}


def logistics(random, trucks=2, places=4, packs=3):
    """Trucks on roads that make a tree; packs have to be brought somewhere. To drive is dearer than to load."""
    ts, ps = [f"t{n}" for n in range(trucks)], [f"p{n}" for n in range(packs)]
    towns = [f"c{n}" for n in range(places)]
    roads = [(towns[n], random.choice(towns[:n])) for n in range(1, places)]
    given = [f"road({a}, {b})" for one, other in roads for a, b in ((one, other), (other, one))]
    given += [f"at({each}, {random.choice(towns)})" for each in (*ts, *ps)]
    return document(
        given,
        [f"at({each}, {random.choice(towns)})" for each in ps],
        {
            "truck.drive": {
                "requires": ["at(?truck, ?from:place)", "road(?from, ?to:place)"],
                "effects": ["at(?truck, ?to)", "not at(?truck, ?from)"],
                "cost": random.choice([1, 2, 3]),
            },
            "truck.load": {
                "requires": ["at(?pack, ?place)", "at(?truck, ?place)"],
                "effects": ["in(?pack, ?truck)", "not at(?pack, ?place)"],
            },
            "truck.unload": {
                "requires": ["in(?pack, ?truck)", "at(?truck, ?place)"],
                "effects": ["at(?pack, ?place)", "not in(?pack, ?truck)"],
            },
        },
        truck=ts, pack=ps, place=towns,
    )  # fmt: skip


def blocks(random, count=5):
    """Towers of blocks that are to be other towers; one hand."""
    names = [f"b{n}" for n in range(count)]
    return document(
        [*towers(random, names), "empty"],
        [each for each in towers(random, names) if not each.startswith("clear")],
        {
            "hand.pick": {
                "requires": ["clear(?block)", "table(?block)", "empty"],
                "effects": ["holds(?block)", "not clear(?block)", "not table(?block)", "not empty"],
            },
            "hand.put": {
                "requires": ["holds(?block)"],
                "effects": ["not holds(?block)", "clear(?block)", "table(?block)", "empty"],
            },
            "hand.stack": {
                "requires": ["holds(?block)", "clear(?below:block)"],
                "effects": ["not holds(?block)", "clear(?block)", "on(?block, ?below)", "not clear(?below)", "empty"],
            },
            "hand.unstack": {
                "requires": ["on(?block, ?below:block)", "clear(?block)", "empty"],
                "effects": ["holds(?block)", "not on(?block, ?below)", "clear(?below)", "not clear(?block)", "not empty"],
            },
        },
        block=names,
    )  # fmt: skip


def towers(random, names):
    order, below = random.sample(names, len(names)), None
    for each in order:
        if below is None or random.random() < 0.3:
            yield f"table({each})"
            if below is not None:
                yield f"clear({below})"
        else:
            yield f"on({each}, {below})"
        below = each
    yield f"clear({below})"


def rooms(random, count=3, balls=3):
    """A robot with two hands, rooms in a row, some of their doors locked, and a key for each somewhere."""
    names = [f"r{n}" for n in range(count)]
    things = [f"b{n}" for n in range(balls)]
    doors = [(names[n], names[n + 1]) for n in range(count - 1)]
    given = [f"door({a}, {b})" for one, other in doors for a, b in ((one, other), (other, one))]
    given += [f"locked({each})" for each in names[1:] if random.random() < 0.4]
    given += ["in(r0)", "free(left)", "free(right)"] + [f"at({each}, {random.choice(names)})" for each in things]
    return document(
        given,
        [f"at({each}, {random.choice(names)})" for each in things],
        {
            "robot.go": {
                "requires": ["in(?from:room)", "door(?from, ?to:room)", "not locked(?to)"],
                "effects": ["in(?to)", "not in(?from)"],
            },
            "robot.open": {
                "requires": ["in(?from:room)", "door(?from, ?to:room)", "locked(?to)", "free(?hand)"],
                "effects": ["not locked(?to)"],
                "cost": 2,
            },
            "robot.take": {
                "requires": ["in(?room)", "at(?ball, ?room)", "free(?hand)"],
                "effects": ["has(?hand, ?ball)", "not at(?ball, ?room)", "not free(?hand)"],
            },
            "robot.drop": {
                "requires": ["in(?room)", "has(?hand, ?ball)"],
                "effects": ["at(?ball, ?room)", "not has(?hand, ?ball)", "free(?hand)"],
            },
        },
        room=names, ball=things, hand=["left", "right"],
    )  # fmt: skip


def pipeline(random, count=12, breaks=0.1):
    """A build: parts that need earlier parts, made by one of several tools at different costs, some of which leave dirt."""
    actions = {"build.clean": {"requires": ["dirty"], "effects": ["not dirty"], "cost": random.randint(1, 4)}}
    for n in range(count):
        for way in range(random.randint(1, 3)):
            earlier = random.sample(range(n), min(n, random.randint(0, 3)))
            actions[f"build.part{n}_{way}"] = {
                "requires": [f"made(m{each})" for each in earlier] + random.choice([[], [], ["not dirty"]]),
                "effects": [f"made(m{n})", *random.choice([[], [], ["dirty"]])],
                "cost": random.randint(1, 9),
            }
        if random.random() < breaks:
            actions[f"build.part{n}_0"]["requires"].append("licensed")
    wanted = [f"made(m{each})" for each in random.sample(range(count // 2, count), 2)]
    return document([], [*wanted, *random.choice([[], ["not dirty"]])], actions, part=[f"m{n}" for n in range(count)])


def strips(random, facts=8, actions=10):
    """Anything: facts that actions require, make true and make false without any sense. Many have no plan."""
    names = [f"f{n}" for n in range(facts)]
    made = {}
    for n in range(actions):
        effects = random.sample(names, random.randint(1, 3))
        made[f"any.a{n}"] = {
            "requires": [signed(random, each, 0.25) for each in random.sample(names, random.randint(1, 3))],
            "effects": [effects[0], *(signed(random, each, 0.6) for each in effects[1:])],
            "cost": random.choice([0, 1, 1, 1, 2, 5]),
        }
    wanted = [signed(random, each, 0.3) for each in random.sample(names, random.randint(2, 3))]
    return document(random.sample(names, 2), wanted, made)


def signed(random, name, share):
    return f"not {name}" if random.random() < share else name


FAMILIES = {
    "logistics": logistics,
    "blocks": blocks,
    "rooms": rooms,
    "pipeline": pipeline,
    "strips": strips,
}
