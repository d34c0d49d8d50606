"""`make bench`: measures Perdure beside others and by itself, and writes `RESULTS.md` and its plot.

`BENCH_ROUNDS` says how many rounds there are (3; 1 is the quick way), `BENCH_MINUTES` when to stop at the latest (30;
10 for one round), `BENCH_PEERS` beside whom (`floor,langgraph`; all), and `BENCH_HOME` where environments and data
are. The page is written anew after every part, so that whoever stops it keeps what was found.
"""

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from figures import TOLD_TO, Figure
from machine import Meter, machine
from page import Report, write
from rounds import LIMIT, USUAL, Found, jobs, order
from trial import Job, Row, place, run, syncs, tried
from venvs import HERE, PEERS, last_line, why_not

SYNCED = 50
"""Steps of the shorter one of two chains, of which the waits for the disk are counted."""


def own(rounds: int) -> dict[str, list[str]]:
    """Our own benches, and with what they are started."""
    return {
        "startup": ["--rounds", f"{5 * rounds}"],
        "waiting": [],
        "resumption": ["--rounds", f"{rounds}"],
        "replay": ["--rounds", f"{rounds + 2}"],
        "schedule": [],
        "server": ["--rounds", f"{100 * rounds}"],
        "estimates": ["--worlds", "40" if rounds > 1 else "8"],
        "engine": ["--rounds", f"{rounds}"],
        "journal": ["--rounds", f"{rounds + 2}", "--entries", f"{1_000_000 if rounds > 1 else 100_000}"],
        "hands": ["--rounds", f"{20 * rounds}", "--commands", f"{5 * rounds}"],
        "recovery": ["--rounds", f"{20 * rounds}"],
        "revision": ["--rounds", f"{rounds}"],
        "plans": ["--rounds", f"{rounds}"],
        "strategies": [],
    }


def told(row: Row) -> str:
    """A trial in a few words."""
    if "steps_per_s" in row:
        return f"{row['steps_per_s']:,.0f} steps/s"
    return f"first new step after {row['first_new_s']:.3f} s" if "first_new_s" in row else row["error"]


@dataclass
class Bench:
    """What is measured, how far it is, and how much time there is left."""

    rounds: int
    minutes: float
    report: Report
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that there are."""
        return 60 * self.minutes - (time.monotonic() - self.began)

    def say(self, what: str) -> None:
        """Tell the one who waits."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        print(f"[{minutes:2}:{seconds:02}] {what}", flush=True)

    def is_late(self, what: str) -> bool:
        """Whether there is no time for something, which is noted then."""
        if self.left > 0:
            return False
        self.report.left_out[what] = f"{self.minutes:g} minutes were over"
        return True

    def install(self, wanted: list[str]) -> None:
        """Have all peers there, as far as that is possible."""
        for peer in wanted:
            why = why_not(peer)
            if why:
                self.report.left_out[peer] = why
                self.say(f"{peer} is left out: {why}")
            else:
                self.report.peers.append(peer)

    def turn(self, number: int, large: tuple[bool, ...] = (False, True)) -> None:
        """One round of all workloads on all engines; those of usual size, the large ones, or both."""
        name = f"round {number + 1} of {self.rounds}"
        wanted = [job for job in jobs(self.report.peers) if (job.n > USUAL) in large]
        for job in order(wanted, number):
            if job in self.report.found.hopeless:
                continue
            if self.is_late(f"the rest of {name}"):
                break
            self.report.meter.look()
            row = tried(job, min(self.left, LIMIT))
            if "error" not in row or self.left > 0:  # else it is not its fault
                self.report.found.note(job, number, row)
            self.say(f"{name}  {job}: {told(row)}")
            self.write()

    def bench(self, name: str, given: list[str]) -> None:
        """One of our own."""
        if self.is_late(name):
            return
        self.say(f"{name}.py {' '.join(given)}")
        self.report.meter.look()
        with place() as root:
            figures = root / "figures.json"
            command = [sys.executable, str(HERE / f"{name}.py"), *given]
            ended = run(command, self.left, **{TOLD_TO: str(figures), "TMPDIR": str(root)})
            if ended.code == 0 and figures.exists():
                self.report.own[name] = [Figure(**each) for each in json.loads(figures.read_text(encoding="utf-8"))]
            elif not self.is_late(name):
                self.report.left_out[name] = last_line(ended.err) or f"exit {ended.code}"
        print(ended.out, end="", flush=True)
        self.write()

    def count_syncs(self) -> None:
        """How often each engine waits for the disk."""
        if which("strace") is None:
            self.report.left_out["waits for the disk"] = "there is no strace"
            return
        for peer in self.report.peers:
            variant = next(iter(PEERS[peer]["variants"]))
            if not self.is_late("waits for the disk"):
                self.report.syncs[peer] = syncs(Job("w1", SYNCED, peer, variant), self.left)
                self.say(f"{peer}: {self.report.syncs[peer]:.2f} waits for the disk in a step")

    def write(self) -> None:
        """The page, as far as it is known."""
        write(self.report, HERE)

    def all(self, wanted: list[str]) -> None:
        """Everything; what matters most comes first, for the case that time runs out."""
        self.install(wanted)
        self.report.machine, self.report.meter = machine(), Meter()  # not before: now it is known what there is
        self.turn(0, large=(False,))
        for name, given in own(self.rounds).items():
            self.bench(name, given)
        self.count_syncs()
        self.turn(0, large=(True,))
        for number in range(1, self.rounds):
            self.turn(number)
        self.report.is_whole = self.left > 0
        self.write()


def main() -> None:
    """Measure everything."""
    rounds = int(os.environ.get("BENCH_ROUNDS") or 3)
    minutes = float(os.environ.get("BENCH_MINUTES") or (30 if rounds > 1 else 10))
    wanted = (os.environ.get("BENCH_PEERS") or ",".join(PEERS)).split(",")
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what it has started has to end with it
    if unknown := set(wanted) - set(PEERS):
        raise SystemExit(f"BENCH_PEERS names {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    report = Report({}, Meter(), Found())
    bench = Bench(rounds, minutes, report)
    try:
        bench.all([peer for peer in PEERS if peer in {"perdure", *wanted}])
    except KeyboardInterrupt:
        bench.write()
        raise SystemExit(f"stopped; what was found is in {Path('bench') / 'RESULTS.md'}") from None
    bench.say(f"{report.verdict}; see bench/RESULTS.md")


if __name__ == "__main__":
    main()
