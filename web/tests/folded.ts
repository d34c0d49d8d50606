// Folds runs that come in as lines of JSON, and tells after each turn what the page would show. For tests/web/test_fold.py.

import { createInterface } from "node:readline";

import type { Entry } from "../src/fold/entry.ts";
import { evolve } from "../src/fold/fold.ts";
import type { Plan } from "../src/fold/plan.ts";
import { State } from "../src/fold/state.ts";
import { missingOf, outputOf, signalsOf, statusOf, stepView, usageOf } from "../src/fold/view.ts";

type Given = { run: string; plans: Plan[]; named: { [digest: string]: Plan }; turns: Entry[][] };

function seen(state: State) {
  const steps = [...state.cells].filter(([key]) => key !== "");
  return {
    status: statusOf(state),
    goal: state.goal,
    revision: state.revision,
    session: state.session || null,
    fork: state.fork,
    began: state.root?.at ?? null,
    updated: state.at,
    entries: state.seq,
    failure: state.ended?.failure ?? null,
    cause: state.ended?.cause || null,
    partial: (state.ended?.partial ?? false) || missingOf(state).length > 0,
    missing: missingOf(state),
    usage: usageOf(state),
    questions: [...state.questions.keys()],
    signals: signalsOf(state),
    steps: Object.fromEntries(steps.map(([key, cell]) => [key, { ...stepView(cell), output: outputOf(cell) ?? null }])),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line) as Given;
  const plans = {
    at: (revision: number) => given.plans[revision] as Plan,
    named: (digest: string) => given.named[digest] as Plan,
  };
  const state = new State(given.run, plans);
  const told = given.turns.map((entries) => {
    for (const entry of entries) evolve(state, entry);
    return seen(state);
  });
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
