"""What a journal says, held against what was done to the world: nothing that was over is done again (R1)."""

from collections import Counter, defaultdict

from engine_victim import effects

from perdure.core import events as e
from perdure.journal.driver import connect
from perdure.journal.reader import Reader
from perdure.ports import Filter, NoJournal


class Seen:
    """A journal, its world, and what was seen of both so far."""

    def __init__(self, path, world):
        self.path, self.world = path, world
        self.over, self.settled, self.read = set(), {}, 0

    def look(self):
        """Hold what is in the file against what is in the world; how many runs stand how."""
        done = effects(self.world)
        fresh, self.read = done[self.read :], len(done)
        known, over, statuses = self.journal()
        for kind, run, step, visit, attempt, _ in fresh:
            if kind != "undone":
                assert (run, step, visit) not in self.over, f"{step} of {run} was over and ran again"
                assert (run, step, visit, attempt) in known, f"{kind} {step} of {run} was not known before it began"
        _assert_keys(done)
        assert self.over <= over, "what was over is not lost"
        self.over = over
        return Counter(statuses)

    def journal(self):
        reader = Reader(self.path, connect)
        try:
            runs = reader.runs(Filter(), None, 10_000)
        except NoJournal:
            return set(), set(), []
        known, over = set(), set(self.over)
        for run in runs:
            if self.settled.get(run.id) == run.head_seq:
                continue
            self.settled[run.id] = run.head_seq
            _, entries = reader.load(run.id)  # verified as it is loaded
            for entry in entries:
                event = e.decode(entry.type, entry.body)
                if entry.type == "attempt_started":
                    known.add((run.id, event.step, event.visit, event.attempt))
                elif e.ends_step(event) and entry.type != "step_passed":
                    over.add((run.id, event.step, event.visit))
        return known, over, [run.summary.status for run in runs]


def _assert_keys(done):
    keys, times = defaultdict(set), Counter()
    for kind, run, step, visit, _, key in done:
        keys[run, step, visit].add(key)
        times[kind, key] += 1
    assert all(len(each) == 1 for each in keys.values()), "a repetition has the same key"
    assert [key for (kind, key), count in times.items() if kind == "never" and count > 1] == [], "never means never"
