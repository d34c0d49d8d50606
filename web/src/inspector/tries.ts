// The tries at a step, and what they took, read off the facts.

import type { Entry, Failure, Usage } from "../fold/entry.ts";

export type Try = {
  readonly visit: number;
  readonly number: number;
  readonly deed: string;
  readonly from: number;
  readonly call: string;
  to: number | null;
  exit: string;
  failure: Failure | null;
  usage: Usage | null;
  /** What followed: another try, another way, a question. */
  readonly then: string[];
};

export function triesAt(entries: readonly Entry[], until: number, step: string): Try[] {
  const found: Try[] = [];
  for (const { seq, type, at, body } of entries) {
    if (seq > until) break;
    if (body.step !== step) continue;
    const deed = body.deed ?? "do";
    const last = found.at(-1);
    if (type === "attempt_started") {
      const about = { visit: body.visit ?? 1, number: body.attempt ?? 1, deed, from: at, call: String(body.call ?? "") };
      found.push({ ...about, to: null, exit: "", failure: null, usage: null, then: [] });
    } else if (type === "attempt_ended") {
      const tried = found.findLast((each) => each.deed === deed && each.to === null);
      const exit = body.approval ? "asks first" : ((body.exit as string | undefined) ?? "success");
      if (tried) Object.assign(tried, { to: at, exit, failure: body.failure ?? null, usage: body.usage ?? null });
    } else if (type === "attempt_lost") {
      const tried = found.findLast((each) => each.deed === deed && each.to === null);
      if (tried) Object.assign(tried, { to: at, exit: "lost" });
    } else if (type === "retry_planned") last?.then.push("tried again");
    else if (type === "rung_taken") last?.then.push(`${body.rung}${body.tool ? ` by ${body.tool}` : ""}`);
    else if (type === "question_asked") last?.then.push("somebody was asked");
  }
  return found;
}

export function total(tries: readonly Try[]): { tokens: number; calls: number; usd: number | null } {
  const used = tries.map((each) => each.usage).filter((each) => each !== null);
  const priced = used.filter((each) => typeof each.usd === "number");
  return {
    tokens: used.reduce((sum, each) => sum + (each.tokens ?? 0), 0),
    calls: used.reduce((sum, each) => sum + (each.calls ?? 0), 0),
    usd: priced.length ? priced.reduce((sum, each) => sum + (each.usd ?? 0), 0) : null,
  };
}
