"""Plans with budgets by lot, performers who report by lot, and somebody who keeps books of his own."""

from collections import defaultdict

from perdure.core import events as e
from perdure.core.calls import Usage
from perdure.core.ending import is_item
from perdure.core.ladder import plan_in
from perdure.plan.model.steps import Working

MOST = {"steps": 12, "calls": 6, "tokens": 3_000, "usd": 2.0, "seconds": 60, "depth": 3}
INSIDE = ("steps", "plan")
REPORTS = (
    None, None, Usage(), Usage(tokens=120, calls=1), Usage(tokens=900, usd=0.3, calls=2), Usage(usd=0.05),
    Usage(tokens=5_000, usd=1.5, calls=1), Usage(seconds=2.5, tokens=1),
)  # fmt: skip
"""What attempts say they took: nothing, something, and more than was ever promised."""


def budgeted(rng, raw, around=None, inside=False):
    """A plan, as it is written, with budgets and estimates in some places; none larger than one around it."""
    left = dict(around or {})
    if rng.random() < (0.25 if inside else 0.8):
        words = rng.sample(list(MOST), rng.randint(1, 3))
        limits = {word: min(_amount(rng, word), left.get(word, MOST[word])) for word in words}
        raw["budget"] = {**limits, "then": rng.choice(["ask", "finish", "fail"])}
        left |= limits
    if inside and rng.random() < 0.7 and {"tool", "model", "agent"} & raw.keys():
        raw["estimate"] = {
            word: _amount(rng, word, 0.3) for word in rng.sample(["tokens", "usd", "seconds", "calls"], 2)
        }
    for steps in [raw.get("steps", []), raw.get("parallel", [])]:
        for step in steps:
            if _may_spend(step):
                budgeted(rng, step, left, inside=True)
    if isinstance(raw.get("plan"), dict):
        budgeted(rng, raw["plan"], left, inside=True)
    return raw


def crowded(rng, raw):
    """The same, with many at once who want more together than there is."""
    share = rng.randint(2, 4)
    members = [_member(rng, f"crowd_{n}", share) for n in range(rng.randint(3, 7))]
    limits = {word: MOST[word] for word in rng.sample(["tokens", "usd", "calls", "steps"], 2)}
    crowd = {
        "id": "crowd",
        "parallel": members,
        "join": "settled",
        "budget": {**limits, "then": rng.choice(["ask", "finish", "fail"])},
    }
    at = rng.randint(0, len(raw["steps"]))
    raw["steps"].insert(at, crowd | ({"needs": []} if raw["mode"] == "graph" else {}))
    return raw


def _member(rng, id_, share):
    wants = {"tokens": MOST["tokens"] // share, "usd": MOST["usd"] / share, "calls": MOST["calls"] // share}
    step = rng.choice([{"model": "weak", "prompt": "Think"}, {"tool": "x.z"}, {"agent": "solo", "task": "go"}])
    return {"id": id_, **step, "estimate": wants, "priority": rng.randint(0, 1)}


def _may_spend(step):
    return not {"done", "fail", "wait", "checkpoint"} & step.keys()


def _amount(rng, word, share=1.0):
    most = MOST[word] * share
    return round(rng.uniform(0, most), 2) if word in {"usd", "seconds"} else rng.randint(0, max(1, round(most)))


class Auditor:
    """Keeps books from the facts alone, in a way of his own, and objects to every start that was not paid for."""

    def __init__(self):
        self.spent = defaultdict(lambda: defaultdict(float))
        self.promised = defaultdict(dict)
        self.raised = defaultdict(lambda: defaultdict(float))
        self.worked = defaultdict(list)
        """For each owner, when somebody was at work in it: pieces of the run's own time."""
        self.open = {}
        self.overrun = set()
        self.asked = {}

    def see(self, state, events, now):
        for event in events:
            match event:
                case e.AttemptStarted(deed="do" | "judge"):
                    self._start(state, event, now)
                case e.AttemptEnded() | e.AttemptLost() if event.deed in {"do", "judge"}:
                    self._end(state, event, now)
                case e.AttemptEnded(deed="undo") if event.usage:
                    for owner, _ in owners_of(state, event.step):
                        self._charge(owner, _as_amounts(event.usage), {})
                case e.QuestionAsked(about="budget"):
                    self.asked[event.question] = (event.step, event.of)
                case e.QuestionAnswered() if event.question in self.asked and not isinstance(event.value.data, str):
                    owner, word = self.asked[event.question]
                    self.raised[owner][word] += event.value.data
                case _:
                    pass

    def _start(self, state, event, now):
        reserved = _as_amounts(event.reserved or Usage())
        amounts = {**reserved, "steps": int(event.attempt == 1 and event.deed == "do")}
        for owner, budgets in owners_of(state, event.step):
            for word in ("steps", "calls", "tokens", "usd"):
                open_ = sum(each.get(word, 0) for each in self.promised[owner].values())
                total = self.spent[owner][word] + open_ + amounts.get(word, 0)
                for most in (getattr(budget, word) for budget in budgets):
                    fits = most is None or not amounts.get(word) or total <= most + self.raised[owner][word] + 1e-6
                    assert fits, f"{event.step} began with {total} {word} of {most} in {owner!r}"
            self._check_time(owner, budgets, event, now)
            self.promised[owner][event.step] = reserved
            self.spent[owner]["steps"] += amounts["steps"]
        self.open[event.step] = (now, event.due)

    def _check_time(self, owner, budgets, event, now):
        for most in (budget.seconds for budget in budgets):
            if most is not None:
                left = (most + self.raised[owner]["seconds"]) * 1000 - self._time(owner, now)
                assert event.due is not None
                assert 0 <= event.due - now <= left + 1, f"{event.step} may go on longer than {owner!r} has time"

    def _time(self, owner, now, *, late=False):
        """Length of the union of all pieces, and of those that are open; `late`: also while they were too late."""
        going = [(since, now, due) for step, (since, due) in self.open.items() if step in self.promised[owner]]
        total, reached = 0, 0
        for since, until in sorted(
            (since, _least(until, None if late else due)) for since, until, due in [*self.worked[owner], *going]
        ):
            total += max(0, until - max(since, reached))
            reached = max(reached, until)
        return total

    def _end(self, state, event, now):
        since, due = self.open.pop(event.step)
        lost = isinstance(event, e.AttemptLost)
        until = min(now, due) if lost and due is not None else now
        for owner, _ in owners_of(state, event.step):
            promised = self.promised[owner].pop(event.step, None)
            if promised is None:  # it got this budget by a revision, in the turn in which it was over
                continue
            usage = None if lost else event.usage or (None if event.approval is None else Usage(usd=0.0))
            charged = promised if usage is None else _as_amounts(usage)
            if usage is not None:
                asks = state.cells[event.step].traits.asks if event.deed == "do" else 0  # tools judge here
                charged = {**charged, "calls": max(charged["calls"], asks)}
                charged["usd"] = promised.get("usd", 0) if usage.usd is None else usage.usd
            self._charge(owner, charged, promised)
            self.worked[owner].append((since, until, due))

    def _charge(self, owner, charged, promised):
        for word, amount in charged.items():
            self.spent[owner][word] += amount
            if amount > promised.get(word, 0):
                self.overrun.add((owner, word))

    def compare(self, state, now):
        """The books of the core say the same."""
        for key, ledger in state.books.ledgers.items():
            for word in ledger.limits:
                if word in {"calls", "tokens", "usd", "steps"}:
                    per = 1e9 if word == "usd" else 1
                    assert abs(ledger.used(word, now) / per - self.spent[key][word]) < 1e-6, (key, word)
                    if (key, word) not in self.overrun:
                        assert ledger.left(word, now) >= 0, f"{key!r} has promised more {word} than it has"
                elif word == "seconds":
                    least, most = self._time(key, now), self._time(key, now, late=True)
                    assert least - 1 <= ledger.used(word, now) <= most + 1, (key, ledger, self.worked[key])


def _least(until, due):
    return until if due is None else min(until, due)


def _as_amounts(usage):
    return {"tokens": usage.tokens, "calls": usage.calls, "usd": usage.usd or 0.0}


def owners_of(state, step):
    """Whoever has a budget around a step, itself included."""
    cell = state.cells[step]
    for each in (cell, *cell.around):
        budgets = []
        if isinstance(each.step, Working) and not is_item(each):
            budgets.append(each.step.budget)
        plan = each.scope.outline.plan if each.parent is None else None if is_item(each) else plan_in(each)
        budgets.append(plan.budget if plan else None)
        found = [budget for budget in budgets if budget is not None]
        if found:
            yield each.key, found
