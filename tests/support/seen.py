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
        self.known, self.settled, self.read = set(), {}, 0
        """Attempts that were begun, how far each run was read, and how many effects."""
        self.over, self.late = set(), set()
        """What was over before the world was last looked at, and what was found so after that."""

    def look(self):
        """Hold what is in the file against what is in the world; how many runs stand how.

        Somebody may be at work meanwhile. So the file is read before the world, for what was over by then, and after it,
        for what was begun.
        """
        over, _ = self.journal()
        done = effects(self.world)
        late, statuses = self.journal()
        for kind, run, step, visit, attempt, _ in done[self.read :]:
            if kind != "undone":
                assert (run, step, visit) not in self.over, f"{step} of {run} was over and ran again"
                assert (run, step, visit, attempt) in self.known, (
                    f"{kind} {step} of {run} was not known before it began"
                )
        _assert_keys(done)
        self.over, self.late, self.read = self.over | self.late | over, late, len(done)
        return Counter(statuses)

    def journal(self):
        """What has come to be over since it was last read, and how all runs stand."""
        reader, over = Reader(self.path, connect), set()
        try:
            runs = reader.runs(Filter(), None, 10_000)
        except NoJournal:
            return set(), []
        for run in runs:
            if self.settled.get(run.id) == run.head_seq:
                continue
            _, entries = reader.load(run.id)  # verified as it is loaded
            self.settled[run.id] = entries[-1].seq
            found = self._over_in(run.id, entries)
            before = {each for each in self.over | self.late if each[0] == run.id}
            assert before <= found, "what was over is not lost"
            over |= found
        return over, [run.summary.status for run in runs]

    def _over_in(self, run, entries):
        """The visits of a run that are over; what was begun is noted."""
        over = set()
        for entry in entries:
            event = e.decode(entry.type, entry.body)
            if entry.type == "attempt_started":
                self.known.add((run, event.step, event.visit, event.attempt))
            elif e.ends_step(event) and entry.type != "step_passed":
                over.add((run, event.step, event.visit))
        return over


def _assert_keys(done):
    keys, times = defaultdict(set), Counter()
    for kind, run, step, visit, _, key in done:
        keys[run, step, visit].add(key)
        times[kind, key] += 1
    assert all(len(each) == 1 for each in keys.values()), "a repetition has the same key"
    assert [key for (kind, key), count in times.items() if kind == "never" and count > 1] == [], "never means never"
