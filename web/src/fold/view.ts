// A run as the page shows it: the same words as the document `perdure.run/1`.

import { type Cell, Group, Work } from "./cell.ts";
import type { Failure, Value } from "./entry.ts";
import type { State } from "./state.ts";

export type StepView = {
  status: string;
  exit: string | null;
  failure: Failure | null;
  visits: number;
  attempts: number;
  ways: readonly string[];
  sandboxed: string | null;
  began: number | null;
  ended: number | null;
};

export function statusOf(state: State): string {
  if (state.ended !== null) return state.ended.status;
  const asksFirst = state.undoing.size > 0 && waitsForLeave(state);
  if (state.stopping || state.root?.status === "stopping") return asksFirst ? "waiting" : "stopping";
  if (state.pausedAt !== null) return "paused";
  const takesBack = state.undoers.size > 0 && !asksFirst;
  return state.flying.size || state.unsettled.size || takesBack || couldBegin(state) ? "running" : "waiting";
}

/** Whether nothing is at work, and nothing is taken back before somebody has agreed to it. */
function waitsForLeave(state: State): boolean {
  return !state.flying.size && [...state.undoing.values()].every((each) => state.questions.has(each.question));
}

/** Whether somebody waits for room or for a lock, and not for more of a budget that people are asked about. */
function couldBegin(state: State): boolean {
  const budgets = [...state.questions.values()].filter((each) => each.about === "budget");
  const asking = new Set(budgets.map((each) => each.step));
  for (const key of [...state.eager, ...state.unjudged]) {
    if (!asking.size || ![...state.cell(key).way()].some((each) => asking.has(each.key))) return true;
  }
  return false;
}

export function stepView(cell: Cell): StepView {
  return {
    status: cell.status,
    exit: cell.result?.exit || null,
    failure: cell.result?.failure ?? null,
    visits: cell.visit,
    attempts: attemptsOf(cell),
    ways: cell.ways,
    sandboxed: (cell.body instanceof Work && cell.body.outcome?.sandboxed) || null,
    began: cell.at || null,
    ended: cell.status === "over" ? cell.ended || null : null,
  };
}

function attemptsOf(cell: Cell): number {
  if (cell.body instanceof Group) return cell.body.tries > 1 ? cell.body.tries : 0;
  return cell.body?.attempt ?? 0;
}

/** What the last finished visit gave, where one fact says so; undefined where it follows from the steps inside. */
export function outputOf(cell: Cell): Value | undefined {
  return cell.result === null || cell.result.undone ? { data: null } : cell.result.output;
}

export function usageOf(state: State) {
  return {
    steps: state.stepsOver,
    attempts: state.attempts,
    seconds: (state.at - (state.root?.at ?? state.at)) / 1000,
    tokens: state.used.tokens,
    calls: state.used.calls,
    usd: state.used.billionths / 1e9,
  };
}

/** What the run has no result of: it failed, or a budget was used up, and the plan went on. */
export function missingOf(state: State): string[] {
  return [...state.cells].filter(([, cell]) => cell.result?.partial).map(([key]) => key);
}

/** The signals that steps wait for. */
export function signalsOf(state: State): string[] {
  return [...new Set([...state.cells.values()].map((cell) => cell.signal).filter(Boolean))];
}
