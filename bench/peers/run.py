#!/usr/bin/env python3
"""Runs the peer adapters, in interleaved rounds, and writes JSON and a markdown table.

    python run.py --rounds 3                      everything in peers.json
    python run.py --peers langgraph,dbos --workloads w1,w5 --rounds 1
    python run.py --static                        import time, dependency count, venv size only
    python run.py --fsync                         fsyncs per step, counted with strace, W1 N=200
    python run.py --merge main,main2 --name all   medians over earlier result files

Environment
    BENCH_HOME    where venvs and data are (default: <tempdir>/durable-bench); never in the repo
    BENCH_PG_URL  e.g. postgresql://user@127.0.0.1:5432 ; without it DBOS/postgres is skipped
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = Path(os.environ.get("BENCH_HOME", Path(tempfile.gettempdir()) / "durable-bench"))
PEERS = json.loads((HERE / "peers.json").read_text())


def python_of(peer: dict) -> Path:
    if peer["venv"] == "@project":
        return HERE.parents[1] / ".venv" / "bin" / "python"
    return HOME / "venvs" / peer["venv"] / "bin" / "python"


def child_env() -> dict:
    env = dict(os.environ)
    env.update(
        PYTHONDONTWRITEBYTECODE="1", LANGSMITH_TRACING="false", DO_NOT_TRACK="1", BENCH_SPAWN_TIME=str(time.time())
    )
    return env


def stop_server(data: Path) -> None:
    """Stops the server an adapter has started, by the pid it left; nothing else."""
    f = data / "server.pid"
    if not f.exists():
        return
    try:
        os.killpg(int(f.read_text()), signal.SIGTERM)
        time.sleep(1)
        os.killpg(int(f.read_text()), signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def drop_pg(data: Path) -> None:
    f = data / "pgdb"
    if f.exists() and os.environ.get("BENCH_PG_URL"):
        subprocess.run(
            [
                "psql",
                os.environ["BENCH_PG_URL"] + "/postgres",
                "-qc",
                f'DROP DATABASE IF EXISTS "{f.read_text()}" WITH (FORCE)',
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def settled_bytes(data: Path) -> int:
    """Bytes on disk once every SQLite WAL has been folded into its database."""
    for p in list(data.rglob("*")):
        if p.is_file() and p.stat().st_size >= 16:
            with open(p, "rb") as f:
                magic = f.read(15)
            if magic == b"SQLite format 3":
                try:
                    c = sqlite3.connect(p)
                    c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    c.close()
                except sqlite3.Error:
                    pass
    return sum(p.stat().st_size for p in data.rglob("*") if p.is_file() and not p.name.endswith(".log.txt"))


def launch(
    peer: dict,
    variant: str,
    workload: str,
    n: int,
    data: Path,
    limit: float,
    prefix: list[str] = [],
    extra: list[str] = [],
) -> tuple[int, str, str]:
    cmd = prefix + [
        str(python_of(peer)),
        str(HERE / "adapters" / peer["adapter"]),
        "--workload",
        workload,
        "--n",
        str(n),
        "--variant",
        variant,
        "--data",
        str(data),
        *extra,
    ]
    try:
        p = subprocess.run(cmd, capture_output=True, text=True, timeout=limit, env=child_env())
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b"").decode() if isinstance(e.stdout, bytes) else (e.stdout or ""), "timeout"


def last_line(err: str) -> str:
    """The last line of a traceback, without paths of this machine."""
    lines = [x.strip() for x in err.splitlines() if x.strip()]
    return re.sub(r"(/[\w.@+-]+){2,}", "<path>", lines[-1] if lines else "")[:200]


def parse_result(out: str) -> dict | None:
    m = re.findall(r"^RESULT (.*)$", out, re.MULTILINE)
    return json.loads(m[-1]) if m else None


def one(peer: dict, variant: str, workload: str, n: int, limit: float) -> dict:
    root = Path(tempfile.mkdtemp(prefix="b-", dir=HOME / "data"))
    data = root / "d"
    try:
        if workload == "w5":
            return crash_resume(peer, variant, n, root, data, limit)
        rc, out, err = launch(peer, variant, workload, n, data, limit)
        r = parse_result(out)
        if r is None:
            return {"error": "timeout" if rc == 124 else last_line(err), "rc": rc, "limit_s": limit}
        if r.get("unsupported"):
            return r
        if variant != "postgres":
            stop_server(data)
            r["settled_bytes"] = settled_bytes(data)
        return r
    finally:
        stop_server(data)
        drop_pg(data)
        shutil.rmtree(root, ignore_errors=True)


def crash_resume(peer, variant, n, root, data, limit) -> dict:
    """W5: the adapter kills itself with SIGKILL in step n/2; then it is started again."""
    crash = n // 2
    t0 = time.time()
    rc, out, err = launch(peer, variant, "w5", n, data, limit, extra=["--crash-at", str(crash)])
    if rc not in (-9, 137):
        return {"error": f"did not crash: rc={rc} {last_line(err)}"}
    log = root / "exec.log"
    before = [l.split() for l in log.read_text().splitlines()]
    t1 = time.time()
    rc, out, err = launch(peer, variant, "w5resume", n, data, limit)
    lines = [l.split() for l in log.read_text().splitlines()]
    after = lines[len(before) :]
    counts: dict[int, int] = {}
    for _, i, _ in lines:
        counts[int(i)] = counts.get(int(i), 0) + 1
    r = {
        "n": n,
        "crash_at": crash,
        "crashed_after_s": t1 - t0,
        "resume_rc": rc,
        "first_step_s": float(after[0][2]) - t1 if after else None,
        "first_new_step_s": next((float(t) - t1 for _, i, t in after if int(i) > crash), None),
        "first_resumed_step": int(after[0][1]) if after else None,
        "executed_twice": sum(1 for c in counts.values() if c > 1),
        "never_executed": n - len(counts),
        "resume_total_s": time.time() - t1,
    }
    if not after:
        r["error"] = "did not resume: " + last_line(err)
    return r


def static(peer: dict) -> dict:
    py = python_of(peer)
    imp = f"import {peer['import']}"
    subprocess.run([str(py), "-c", imp], capture_output=True)  # bytecode and page cache warm
    ts = []
    for _ in range(5):
        t = time.perf_counter()
        p = subprocess.run([str(py), "-c", imp], capture_output=True, text=True)
        ts.append(time.perf_counter() - t)
    base = []
    for _ in range(5):
        t = time.perf_counter()
        subprocess.run([str(py), "-c", "pass"], capture_output=True)
        base.append(time.perf_counter() - t)
    code = (
        "import importlib.metadata as m,json,resource;"
        "d=sorted({x.metadata['Name'].lower()+' '+x.version for x in m.distributions()});"
        f"{imp};import sys;"
        "print(json.dumps([d,resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,len(sys.modules)]))"
    )
    dists, rss, mods = json.loads(subprocess.run([str(py), "-c", code], capture_output=True, text=True).stdout)
    own = [d for d in dists if d.split()[0] not in ("pip", "setuptools", "psutil", "wheel")]
    site = next((py.parent.parent / "lib").glob("python*")) / "site-packages"
    skip = ("pip", "setuptools", "psutil", "pkg_resources", "_distutils_hack", "__pycache__")
    size = sum(
        f.stat().st_size
        for f in site.rglob("*")
        if f.is_file() and "__pycache__" not in f.parts and not f.relative_to(site).parts[0].startswith(skip)
    )
    return {
        "import_s": statistics.median(ts) - statistics.median(base),
        "import_ok": p.returncode == 0,
        "python_start_s": statistics.median(base),
        "rss_after_import_kb": rss,
        "modules": mods,
        "distributions": len(own),
        "site_bytes": size,
        "dists": own,
    }


def fsyncs(peer: dict, variant: str, n: int = 200) -> dict:
    """fsync-family and write calls per step: the difference of two run lengths, so set-up cancels out."""

    def count(k: int) -> dict:
        root = Path(tempfile.mkdtemp(prefix="s-", dir=HOME / "data"))
        log = root / "strace.txt"
        pre = [
            "strace",
            "-f",
            "-c",
            "-o",
            str(log),
            "-e",
            "trace=fsync,fdatasync,sync_file_range,write,pwrite64,openat,unlink",
        ]
        try:
            launch(peer, variant, "w1", k, root / "d", 200, prefix=pre)
            calls = {}
            for line in log.read_text().splitlines():
                f = line.split()
                if len(f) >= 5 and f[0][0].isdigit() and f[-1] != "total":
                    calls[f[-1]] = int(f[3])
            return calls
        finally:
            stop_server(root / "d")
            drop_pg(root / "d")
            shutil.rmtree(root, ignore_errors=True)

    a, b = count(n // 2), count(n + n // 2)
    return {k: (b.get(k, 0) - a.get(k, 0)) / n for k in sorted(set(a) | set(b))}


def med(rows: list[dict], key: str):
    v = [r[key] for r in rows if isinstance(r.get(key), (int, float))]
    return statistics.median(v) if v else None


def summarise(runs: list[dict]) -> list[dict]:
    groups: dict[tuple, list[dict]] = {}
    for r in runs:
        groups.setdefault((r["workload"], r["n_arg"], r["peer"], r["variant"]), []).append(r)
    out = []
    for (w, n, p, v), rows in sorted(groups.items()):
        s = {"workload": w, "n": n, "peer": p, "variant": v, "runs": len(rows)}
        for k in (
            "steps",
            "seconds",
            "steps_per_s",
            "us_per_step",
            "cpu_us_per_step",
            "rss_peak_kb",
            "disk_bytes",
            "settled_bytes",
            "table_bytes",
            "files",
            "setup_s",
            "build_s",
            "first_step_s",
            "first_new_step_s",
            "first_resumed_step",
            "executed_twice",
            "never_executed",
            "resume_total_s",
            "load1",
        ):
            m = med(rows, k)
            if m is not None:
                s[k] = m
        sp = [r["steps_per_s"] for r in rows if "steps_per_s" in r]
        if sp:
            s["best_steps_per_s"] = max(sp)
            s["worst_steps_per_s"] = min(sp)
        errs = [r["error"] for r in rows if r.get("error")]
        if errs:
            s["error"] = errs[-1]
        out.append(s)
    return out


def markdown(summary: list[dict]) -> str:
    lines = []
    for w in sorted({s["workload"] for s in summary}):
        rows = [s for s in summary if s["workload"] == w]
        lines += [f"\n### {w}\n"]
        if w == "w5":
            lines += [
                "| peer | variant | N | first step again, s | first new step, s | executed twice | never | resume total, s | note |",
                "|---|---|--:|--:|--:|--:|--:|--:|---|",
            ]
            for s in rows:
                f = lambda k: "" if s.get(k) is None else f"{s[k]:.3f}"
                g = lambda k: "" if s.get(k) is None else f"{s[k]:.0f}"
                lines.append(
                    f"| {s['peer']} | {s['variant']} | {s['n']} | {f('first_step_s')} | {f('first_new_step_s')} | {g('executed_twice')} | "
                    f"{g('never_executed')} | {f('resume_total_s')} | {s.get('error', '')[:80]!r} |"
                )
            continue
        lines += [
            "| peer | variant | N | steps/s (median) | min..max | ms/step wall | ms/step CPU | total s | disk B/step | peak RSS MB | note |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
        ]
        for s in sorted(rows, key=lambda s: (s["n"], -(s.get("steps_per_s") or 0))):
            if "steps_per_s" not in s:
                lines.append(
                    f"| {s['peer']} | {s['variant']} | {s['n']} | | | | | | | | {s.get('error', 'unsupported')[-80:]!r} |"
                )
                continue
            steps = s["steps"]
            disk = s.get("settled_bytes", s.get("table_bytes", s.get("disk_bytes", 0)))
            lines.append(
                f"| {s['peer']} | {s['variant']} | {s['n']} | {s['steps_per_s']:.0f} | {s['worst_steps_per_s']:.0f}..{s['best_steps_per_s']:.0f} | "
                f"{s['us_per_step'] / 1000:.3f} | {s['cpu_us_per_step'] / 1000:.3f} | {s['seconds']:.2f} | {disk / steps:.0f} | {s['rss_peak_kb'] / 1024:.0f} | {s.get('error', '')[-60:]} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--peers", default="")
    ap.add_argument("--workloads", default="")
    ap.add_argument("--variants", default="")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--max-n", type=int, default=10**9)
    ap.add_argument("--min-n", type=int, default=0)
    ap.add_argument("--limit", type=float, default=120, help="seconds per single measurement")
    ap.add_argument("--static", action="store_true")
    ap.add_argument("--fsync", action="store_true")
    ap.add_argument("--out", default=str(HERE / "results"))
    ap.add_argument("--name", default="run")
    ap.add_argument("--merge", default="", help="comma-separated names of earlier results to summarise together")
    a = ap.parse_args()
    (HOME / "data").mkdir(parents=True, exist_ok=True)
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    want = lambda s, x: not s or x in s.split(",")
    peers = {k: p for k, p in PEERS.items() if want(a.peers, k) and python_of(p).exists()}
    machine = {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "sqlite": sqlite3.sqlite_version,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }

    if a.merge:
        runs = [r for f in a.merge.split(",") for r in json.loads((out / f"{f}.json").read_text())["runs"]]
        (out / f"{a.name}.json").write_text(
            json.dumps({"machine": machine, "merged": a.merge, "summary": summarise(runs)}, indent=1)
        )
        (out / f"{a.name}.md").write_text(markdown(summarise(runs)))
        print(markdown(summarise(runs)))
        return

    if a.static or a.fsync:
        res = {}
        for k, p in peers.items():
            if a.static:
                res[k] = static(p)
                print(k, {x: y for x, y in res[k].items() if x != "dists"}, flush=True)
            else:
                for v, ws in p["variants"].items():
                    if want(a.variants, v) and "w1" in ws:
                        res[f"{k}/{v}"] = fsyncs(p, v)
                        print(f"{k}/{v}", res[f"{k}/{v}"], flush=True)
        (out / f"{a.name}.json").write_text(json.dumps({"machine": machine, "results": res}, indent=1))
        return

    runs: list[dict] = []
    dead: set = set()
    for rnd in range(a.rounds):
        jobs = [
            (w, n, k, v)
            for k, p in peers.items()
            for v, ws in p["variants"].items()
            for w, ns in ws.items()
            for n in ns
            if want(a.workloads, w) and want(a.variants, v) and a.min_n <= n <= a.max_n
        ]
        jobs.sort()  # the same workload of all peers side by side in time
        for w, n, k, v in jobs:
            if (v == "postgres" and not os.environ.get("BENCH_PG_URL")) or (w, n, k, v) in dead:
                continue
            load = os.getloadavg()[0]
            r = one(PEERS[k], v, w, n, a.limit)
            if r.get("unsupported"):
                continue
            if r.get("error") == "timeout":
                dead.add((w, n, k, v))
            r.update(peer=k, variant=v, workload=w, n_arg=n, round=rnd, load1=load)
            runs.append(r)
            msg = (
                f"{r['steps_per_s']:.0f}/s"
                if "steps_per_s" in r
                else str({x: r.get(x) for x in ("first_new_step_s", "executed_twice", "error")})
            )
            print(f"[{rnd}] {w:8} n={n:<5} {k}/{v}: {msg}", file=sys.stderr, flush=True)
            (out / f"{a.name}.json").write_text(
                json.dumps({"machine": machine, "runs": runs, "summary": summarise(runs)}, indent=1)
            )
    md = markdown(summarise(runs))
    (out / f"{a.name}.md").write_text(md)
    print(md)


if __name__ == "__main__":
    main()
