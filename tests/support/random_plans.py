"""Random plans that pass every check: all kinds of step, nested, with loops, needs, joins, locks and undo."""

from perdure.plan import Plan
from perdure.plan.checks import check

ACTING = ("tool", "tool", "tool", "model", "agent", "decide")
PAUSING = ("ask", "wait", "checkpoint", "checkpoint", "rollback", "rollback")
GROUPS = ("serial", "serial", "graph", "graph", "map", "plan", "named", "grown")


def a_plan(rng, most=40, change=lambda raw: raw):
    """A plan without problems."""
    while True:
        plan = Plan.model_validate(change(_Maker(rng, most).plan()))
        if not check(plan):
            return plan


class _Maker:
    def __init__(self, rng, most):
        self.rng, self.left, self.count = rng, rng.randint(3, most), 0

    def chance(self, share):
        return self.rng.random() < share

    def id(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def plan(self):
        raw = {"perdure": 1, "inputs": {"yes": {"default": True}, "no": {"default": False}}, **self.group(0)}
        if self.chance(0.2):
            raw["timeout"] = "2m"
        if self.chance(0.3):
            raw["recovery"] = {self.rng.choice(["logic", "other", "transient"]): ["continue"]}
        return raw

    def group(self, depth):
        graph = self.chance(0.4)
        steps = self.graph(depth) if graph else self.serial(depth)
        raw = {"steps": steps, "mode": "graph" if graph else "serial"}
        if graph:
            raw |= self.joining(len(steps))
        return raw

    def joining(self, count):
        joins = [
            "all",
            "any",
            "settled",
            {"quorum": self.rng.randint(1, count)},
            {"tolerate": self.rng.randint(0, count)},
        ]
        raw = {"join": self.rng.choice(["all", *joins])}
        if self.chance(0.3):
            raw["limit"] = self.rng.randint(1, 3)
        if self.chance(0.3):
            raw["losers"] = "keep"
        return raw

    # ------------------------------------------------------------------ serial

    def serial(self, depth):
        steps, marks = [], []
        for _ in range(self.rng.randint(1, 6)):
            steps.append(self.step(depth, steps, marks))
            if self.left <= 0:
                break
        self.jumps(steps)
        if self.chance(0.2):
            steps.append({"id": self.id("d"), "done": self.rng.choice([True, "ready"])})
        return steps

    def jumps(self, steps):
        for step in steps:
            if self.chance(0.25) and _leads(step):
                target = self.rng.choice([each["id"] for each in steps] + ["done", "fail", "next"])
                step.setdefault("on", {})[self.rng.choice(_words(step))] = target
        for step in steps:
            if _leads(step) and (self.chance(0.1) or any(step["id"] in each.get("on", {}).values() for each in steps)):
                step["max_visits"] = self.rng.randint(1, 3)
                step.setdefault("on", {}).setdefault("exhausted", self.rng.choice(["next", "done", "fail"]))

    # ------------------------------------------------------------------ graph

    def graph(self, depth):
        steps = []
        for _ in range(self.rng.randint(1, 5)):
            step = self.step(depth, [], [])
            before = [each["id"] for each in steps]
            step["needs"] = self.rng.sample(before, min(len(before), self.rng.choice([0, 0, 1, 2])))
            if step["needs"] and "tool" in step and self.chance(0.5):
                step["with"] = {"value": "${{steps.?{}.output}}".format(step["needs"][0])}
            if self.chance(0.2) and _leads(step):
                step.setdefault("on", {})["failure"] = self.rng.choice(["next", "fail", "done"])
            steps.append(step)
            if self.left <= 0:
                break
        return steps

    # ------------------------------------------------------------------ steps

    def step(self, depth, before, marks):
        self.left -= 1
        if depth < 3 and self.left > 0 and self.chance(0.35):
            raw = getattr(self, f"a_{self.rng.choice(GROUPS)}")(depth)
        elif self.chance(0.3):
            raw = getattr(self, f"a_{self.rng.choice(PAUSING)}")(marks)
        else:
            raw = getattr(self, f"a_{self.rng.choice(ACTING)}")()
        if self.chance(0.15):
            raw["when"] = self.rng.choice(["inputs.yes", "inputs.yes", "inputs.no", "inputs.yes && 1 / 0 == 1"])
        if before and "tool" in raw and self.chance(0.4):
            raw["with"] = {"value": "${{steps.?{}.output}}".format(before[-1]["id"])}
        return raw

    def working(self, raw):
        if self.chance(0.2):
            raw["locks"] = self.rng.sample(["x", "y", "z"], self.rng.randint(1, 2))
        if self.chance(0.15):
            raw["priority"] = self.rng.randint(-2, 2)
        if self.chance(0.15):
            raw["requires"] = [self.rng.choice([*["inputs.yes"] * 6, "inputs.no"])]
        if self.chance(0.15):
            raw["recovery"] = {"other": ["continue"]}
        return raw

    def acting(self, raw):
        if self.chance(0.3):
            raw["retry"] = {"attempts": self.rng.randint(1, 3), "wait": self.rng.choice([0, 1])}
        if self.chance(0.2):
            raw["timeout"] = self.rng.choice([0, "5s"])
        if self.chance(0.6):
            raw["undo"] = {"tool": "un.do", "with": {"value": "${output}"}}
        if self.chance(0.1):
            raw["accept"] = [{"expr": "output != 3"}]
        return self.working(raw)

    def a_tool(self):
        raw = {"id": self.id("t"), "tool": self.rng.choice(["x.y", "x.z"]), "with": {"value": self.rng.randint(0, 9)}}
        if self.chance(0.3):
            raw["verdicts"] = ["odd"]
        return self.acting(raw)

    def a_model(self):
        return self.acting({"id": self.id("m"), "model": "default", "prompt": "hello"})

    def a_agent(self):
        return self.acting({"id": self.id("a"), "agent": "whole", "task": "do it"})

    def a_decide(self):
        raw = {"id": self.id("c"), "choices": ["left", "right"], "on": {"left": "next", "right": "next"}}
        raw["decide"] = self.rng.choice(["'left'", "inputs.yes ? 'right' : 'left'", "'neither'", {"tool": "x.y"}])
        return raw

    def a_ask(self, _):
        raw = {"id": self.id("q"), "ask": "May I?"}
        raw |= self.rng.choice([{}, {"choices": ["red", "blue"]}, {"answer": "text"}, {"form": {"type": "object"}}])
        if self.chance(0.4):
            raw["deadline"] = self.rng.choice([0, "1m"])
        return raw

    def a_wait(self, _):
        word = self.rng.choice(["for", "signal", "both", "until"])
        waits = {
            "for": {"for": self.rng.choice(["0s", "3s"])},
            "signal": {"signal": "ping"},
            "both": {"for": "10s", "signal": "ping"},
            "until": {"until": "2027-01-15T08:00:30Z"},
        }
        return {"id": self.id("w"), "wait": waits[word]}

    def a_checkpoint(self, marks):
        raw = {"id": self.id("k"), "checkpoint": True}
        marks.append(raw["id"])
        return raw

    def a_rollback(self, marks):
        return {"id": self.id("r"), "rollback": self.rng.choice(marks)} if marks else self.a_checkpoint(marks)

    def a_serial(self, depth):
        raw = self.working({"id": self.id("g"), "steps": self.serial(depth + 1)})
        if self.chance(0.15):
            raw["timeout"] = self.rng.choice([0, "20s"])
        return raw

    def a_graph(self, depth):
        steps = self.graph(depth + 1)
        raw = {"id": self.id("g"), "mode": "graph", "steps": steps, **self.joining(len(steps))}
        if self.chance(0.1):
            raw["timeout"] = "20s"
        return self.working(raw)

    def a_map(self, depth):
        items = list(range(self.rng.choice([0, 1, 2, 3])))
        raw = {"id": self.id("p"), "map": items, **self.group(depth + 1)}
        return self.working(raw | self.joining(max(1, len(items))))

    def a_plan(self, depth):
        inner = {"inputs": {"yes": {"default": True}, "no": {"default": False}}, **self.group(depth + 1)}
        return self.working({"id": self.id("s"), "plan": inner})

    def a_named(self, _):
        return self.working({"id": self.id("n"), "plan": "common"})

    def a_grown(self, _):
        return self.working({"id": self.id("a"), "agent": "grower", "task": "grow"})


def _leads(step):
    return "done" not in step and "fail" not in step


def _words(step):
    if "choices" in step:
        return [*step["choices"], "failure"]
    if "ask" in step:
        return ["failure", "cancelled"]
    if "verdicts" in step:
        return ["failure", "odd", "success", "cancelled"]
    return ["failure", "failure", "cancelled"]


COMMON = {
    "inputs": {"yes": {"default": True}, "no": {"default": False}},
    "steps": [
        {"id": "one", "tool": "x.y", "undo": {"tool": "un.do"}},
        {
            "id": "two",
            "parallel": [{"id": "three", "tool": "x.y", "locks": ["x"]}, {"id": "four", "tool": "x.z"}],
            "join": "settled",
        },
    ],
}
