// The fold: what each fact changes. It decides nothing. The same as `perdure.core.evolve`, for all that the page shows.

import * as attempts from "./attempts.ts";
import { Cell, Group } from "./cell.ts";
import { type Body, type Entry, failureOf, type Value } from "./entry.ts";
import * as people from "./people.ts";
import { Index } from "./plan.ts";
import { runReopened } from "./reopening.ts";
import { runRevised } from "./revising.ts";
import { State } from "./state.ts";
import * as steps from "./steps.ts";

type Change = (state: State, body: Body, at: number) => void;

export function evolve(state: State, entry: Entry): void {
  state.at = Math.max(state.at, entry.at);
  state.seq = entry.seq;
  CHANGES[entry.type]?.(state, entry.body, state.at);
}

function runStarted(state: State, body: Body, at: number): void {
  state.plan = body.plan as string;
  state.goal = (body.goal as string | undefined) ?? "";
  state.session = (body.session as string | undefined) ?? "";
  state.inputs = body.inputs as Value | undefined;
  state.index = new Index(state.plans.at(0));
  const scope = { index: state.index, holder: null as Cell | null };
  const root = new Cell("", state.index.root, null, 0, scope);
  scope.holder = state.root = root;
  state.cells.set("", root);
  state.holders.set("", root);
  Object.assign(root, { status: "active", visit: 1, at, body: new Group(false) });
}

function resumed(state: State): void {
  if (state.pausedAt !== null) state.paused += state.at - state.pausedAt;
  state.pausedAt = null;
}

function runStopping(state: State, body: Body): void {
  const root = state.cell("");
  resumed(state);
  state.stopping = true;
  state.ended = root.result = null;
  root.status = "stopping";
  if (body.exit !== "rolled_back") return;
  root.undo = [""];
  state.undoers.set("", root);
  for (const effect of state.effects.values()) {
    if (effect.failure !== null && effect.over) Object.assign(effect, { over: false, failure: null });
  }
}

function runForked(state: State, body: Body): void {
  for (const cell of state.flying.values()) lose(state, cell);
  state.flying.clear();
  for (const effect of state.effects.values()) effect.flying = false;
  state.paused += Math.max(0, state.at - (state.pausedAt ?? (body.at as number)));
  state.pausedAt = null;
  state.fork = { of: body.of as string, seq: body.seq as number };
  if (!body.inputs) return;
  state.inputs = body.inputs as Value;
  state.goal = (body.goal as string | undefined) || state.goal;
}

/** Nobody here will see how it ends. */
function lose(state: State, cell: Cell): void {
  const work = cell.work;
  if (work.looking !== null) {
    work.looking.flying = false;
    work.looking = null;
  } else {
    work.lost = true;
    if (!work.stopping) work.counted -= 1;
  }
  work.flying = false;
  state.unsettled.add(cell.key);
}

function runEnded(state: State, body: Body): void {
  const root = state.cell("");
  const cause = (body.cause as string | undefined) ?? "";
  state.ended = { status: body.status as string, failure: failureOf(body), cause, partial: body.partial === true };
  state.pausedAt ??= state.at;
  state.undoers.delete("");
  root.status = "over";
  root.result = { ...steps.resultOf({ ...body, exit: body.status }, ""), partial: false };
  root.result.output = (body.output as Value | null | undefined) ?? undefined;
}

const CHANGES: { readonly [type: string]: Change } = {
  run_started: runStarted,
  run_paused: (state) => {
    state.pausedAt = state.at;
  },
  run_resumed: resumed,
  run_stopping: runStopping,
  run_reopened: runReopened,
  run_revised: runRevised,
  run_forked: runForked,
  run_ended: runEnded,
  step_entered: steps.stepEntered,
  step_passed: steps.stepPassed,
  locks_taken: steps.locksTaken,
  step_stopping: steps.stepStopping,
  step_ended: steps.stepEnded,
  steps_grown: steps.stepsGrown,
  attempt_started: attempts.attemptStarted,
  attempt_progressed: attempts.attemptProgressed,
  attempt_stopping: attempts.attemptStopping,
  attempt_ended: attempts.attemptEnded,
  attempt_lost: attempts.attemptLost,
  retry_planned: attempts.retryPlanned,
  rung_taken: attempts.rungTaken,
  effect_found: attempts.effectFound,
  effect_kept: attempts.effectKept,
  question_asked: people.questionAsked,
  question_answered: people.questionAnswered,
  question_closed: people.questionClosed,
  signal_taken: people.signalTaken,
};
