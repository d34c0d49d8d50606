// Visits of steps as stretches of time, read off the facts.

import type { Entry } from "../fold/entry.ts";

export type Attempt = { readonly number: number; readonly deed: string; readonly from: number; to: number | null; exit: string };

export type Visit = {
  readonly step: string;
  readonly visit: number;
  readonly from: number;
  readonly seq: number;
  to: number | null;
  exit: string;
  readonly attempts: Attempt[];
};

/** The visits until a fact, in the order in which they began. */
export function visitsIn(entries: readonly Entry[], until: number): Visit[] {
  const found = new Map<string, Visit>();
  for (const entry of entries) {
    if (entry.seq > until) break;
    const step = entry.body.step;
    if (step !== undefined) note(found, entry, step);
    if (entry.type === "run_ended") for (const each of found.values()) each.to ??= entry.at;
  }
  return [...found.values()];
}

function note(found: Map<string, Visit>, entry: Entry, step: string): void {
  const key = `${step}:${entry.body.visit ?? 1}`;
  let visit = found.get(key);
  if (visit === undefined && (entry.type === "step_entered" || entry.type === "attempt_started")) {
    visit = { step, visit: entry.body.visit ?? 1, from: entry.at, seq: entry.seq, to: null, exit: "", attempts: [] };
    found.set(key, visit);
  }
  if (visit === undefined) return;
  const deed = entry.body.deed ?? "do";
  if (entry.type === "attempt_started") {
    visit.attempts.push({ number: entry.body.attempt ?? 1, deed, from: entry.at, to: null, exit: "" });
  }
  if (entry.type === "attempt_ended" || entry.type === "attempt_lost") endAttempt(visit, entry, deed);
  const isOver = entry.type === "step_ended" || (entry.type === "attempt_ended" && Boolean(entry.body.to));
  if (isOver) Object.assign(visit, { to: entry.at, exit: (entry.body.exit as string | undefined) ?? "success" });
}

function endAttempt(visit: Visit, entry: Entry, deed: string): void {
  const attempt = visit.attempts.findLast((each) => each.deed === deed && each.to === null);
  if (attempt === undefined) return;
  attempt.to = entry.at;
  attempt.exit = entry.type === "attempt_lost" ? "lost" : ((entry.body.exit as string | undefined) ?? "success");
}
