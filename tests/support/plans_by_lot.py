"""Plans drawn by lot: small, valid, and of every kind that a run can carry out."""

import hashlib
import random
from functools import lru_cache

from perdure.plan import Plan
from perdure.plan.checks import check

TOOLS = ("sim.safe", "sim.safe", "sim.keyed", "sim.keyed", "sim.never", "sim.scarce")
"""What steps call. At most one call of `sim.scarce` may be under way."""


class Lot:
    """Draws the steps of one plan."""

    def __init__(self, draw):
        self.draw = draw
        self.count = 0

    def id(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def chance(self, share):
        return self.draw.random() < share

    # ------------------------------------------------------------ steps

    def serial(self, depth, lock=""):
        steps = []
        for _ in range(self.draw.choice((1, 2, 2, 3, 3, 4))):
            self.add(steps, depth, lock)
        if len(steps) > 1 and self.chance(0.1):
            steps.append({"id": self.id("end"), "done": True})
        return steps

    def add(self, steps, depth, lock):
        """Put one more step at the end; some come with a companion."""
        before = steps[-1]["id"] if steps else None
        made = self.draw.choices(
            (self.work, self.group, self.map, self.subplan, self.ask, self.wait, self.decide, self.rollback, self.loop),
            (12, 3 * (depth > 0), 2 * (depth > 0), 1.5 * (depth > 0), 1.5, 1.5, 0.7, 0.8, 1),
        )[0](depth, lock, before)
        steps.extend(made if isinstance(made, list) else [made])

    def work(self, depth, lock, before):
        step = {"id": self.id("s")}
        kind = self.draw.choices(("tool", "model", "agent"), (8, 1, 1))[0]
        if kind == "tool":
            step |= {"tool": self.draw.choice(TOOLS), "with": self.arguments(step["id"], lock, before)}
        elif kind == "model":
            step |= {"model": "weak", "prompt": f"think of {step['id']}"}
        else:
            step |= {"agent": "helper", "task": f"do {step['id']}"}
        self.terms(step, lock)
        return step

    def arguments(self, id_, lock, before):
        given = {"n": self.draw.randrange(100)}
        if lock:
            given |= {"lock": lock, "holder": lock}
        if before and not lock and self.chance(0.4):
            given["seen"] = f"${{steps.?{before}.?output}}"
        return given

    def terms(self, step, lock):
        if self.chance(0.35):
            step["retry"] = {"attempts": 4, "wait": "1s"}
        if self.chance(0.25):
            step["timeout"] = "60s"
        if not lock and step.get("tool") and self.chance(0.12):
            name = self.draw.choice("AB")
            step["locks"] = [name]
            step["with"] |= {"lock": name, "holder": step["id"]}
        if step.get("tool") and self.chance(0.2):
            step["undo"] = {"tool": "sim.undo", "with": {"of": step["id"]}}
        if self.chance(0.3):
            step["on"] = {"failure": "next"}
        elif self.chance(0.1):
            step["recovery"] = {"other": ["continue"]}
        if self.chance(0.1):
            step["priority"] = self.draw.randrange(3)

    def group(self, depth, lock, before):
        inner = {"steps": self.serial(depth - 1, lock)} if self.chance(0.5) else self.graph(depth, lock)
        group = {"id": self.id("g"), **inner}
        if not lock and self.chance(0.1):
            name = self.draw.choice("AB")
            group |= {"locks": [name], "steps": self.serial(0, name), "mode": "serial"}
            for key in ("parallel", "join", "limit", "losers"):
                group.pop(key, None)
        if self.chance(0.4):
            group["on"] = {"failure": "next"}
        if self.chance(0.1):
            group["timeout"] = "100s"
        return group

    def graph(self, depth, lock):
        children = [self.work(depth, lock, None) for _ in range(self.draw.choice((2, 2, 3, 4)))]
        if depth > 1 and self.chance(0.3):
            children.append({"id": self.id("g"), "steps": self.serial(depth - 2, lock)})
        graph = {"mode": "graph", "steps": children}
        for place, child in enumerate(children):
            if place and self.chance(0.4):
                child["needs"] = [self.draw.choice(children[:place])["id"]]
        joins = ("all", "all", "settled", "any", {"quorum": 1}, {"tolerate": 1})
        graph["join"] = self.draw.choice(joins)
        if self.chance(0.2):
            graph["limit"] = self.draw.choice((1, 2))
        if self.chance(0.2):
            graph["losers"] = "keep"
        return graph

    def map(self, depth, lock, before):
        items = self.draw.choice(([1, 2], [1, 2, 3], ["a"], [], [{"k": 1}, {"k": 2}, {"k": 3}, {"k": 4}]))
        step = self.work(0, lock, None)
        if "tool" in step:
            step["with"] |= {"item": "${item}"}
        found = {"id": self.id("m"), "map": items, "steps": [step]}
        if self.chance(0.3):
            found["join"] = self.draw.choice(("settled", {"tolerate": 1}))
        if self.chance(0.3):
            found["limit"] = self.draw.choice((1, 2))
        return found

    def subplan(self, depth, lock, before):
        inner = {"inputs": {"x": {"type": "integer"}}, "steps": self.serial(0, lock)}
        return {"id": self.id("p"), "plan": inner, "with": {"x": self.draw.randrange(9)}}

    def ask(self, depth, lock, before):
        step = {"id": self.id("q"), "ask": "Shall we?", "on": {"rejected": "next"}}
        if self.chance(0.3):
            step = {
                "id": self.id("q"),
                "ask": "Which?",
                "choices": ["left", "right"],
                "on": {"left": "next", "right": "next"},
            }
        if self.chance(0.2):
            step["deadline"] = "30s"
            step["on"] |= {"expired": "next"}
        return step

    def wait(self, depth, lock, before):
        if self.chance(0.5):
            return {"id": self.id("w"), "wait": self.draw.choice(("1s", "20s", "1h"))}
        if self.chance(0.3):
            return {"id": self.id("w"), "wait": {"for": "40s", "signal": "bell"}}
        return {"id": self.id("w"), "wait": {"signal": self.draw.choice(("bell", "horn"))}}

    def decide(self, depth, lock, before):
        return {
            "id": self.id("d"),
            "decide": "1 < 2 ? 'yes' : 'no'",
            "choices": ["yes", "no"],
            "on": {"yes": "next", "no": "next"},
        }

    def rollback(self, depth, lock, before):
        mark, back = self.id("c"), self.id("r")
        step = self.work(depth, lock, None)
        if "tool" in step:
            step["undo"] = {"tool": "sim.undo", "with": {"of": step["id"]}}
        step["on"] = {"failure": "next"}
        return [{"id": mark, "checkpoint": True}, step, {"id": back, "rollback": mark, "on": {"failure": "next"}}]

    def loop(self, depth, lock, before):
        first, last = self.work(depth, lock, None), self.work(depth, lock, None)
        first |= {"max_visits": 3, "on": {"failure": "next", "exhausted": "done"}}
        last = {"id": last["id"], "agent": "helper", "task": "once more?", "verdicts": ["again"]}
        last["on"] = {"again": first["id"], "failure": "next"}
        return [first, last]


@lru_cache(maxsize=4096)
def drawn(number):
    """One plan that passes all checks; each number stands for one."""
    draw = random.Random(number)
    while True:
        lot = Lot(draw)
        raw = {"steps": lot.serial(2)}
        if draw.random() < 0.05:
            raw["timeout"] = "10m"
        plan = Plan.model_validate(raw)
        if not [each for each in check(plan) if each.severity == "error"]:
            return plan


@lru_cache(maxsize=4096)
def share(*words):
    """A number from 0 to 1 that these words stand for, the same in every process."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, words)).encode()).digest()[:6]) / 2**48
