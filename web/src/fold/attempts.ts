// What the facts about tries change: one begins, says how far it is, ends, is lost, is followed by another.

import { Cell, Group, type Look, Work } from "./cell.ts";
import { type Body, failureOf, type Usage, type Value } from "./entry.ts";
import { takeLocks } from "./lines.ts";
import type { Effect, State } from "./state.ts";
import { beginVisit, endVisit, noteEffect, openAgain, openAgent, resultOf } from "./steps.ts";

function effectOf(state: State, body: Body): Effect {
  const key = `${body.step}:${body.visit ?? 1}`;
  const effect = state.effects.get(key);
  if (effect === undefined) throw new Error(`nothing was done at ${key} that could be taken back`);
  state.undoing.set(key, effect);
  return effect;
}

export function attemptStarted(state: State, body: Body, at: number): void {
  state.attempts += 1;
  if (body.deed === "undo") {
    Object.assign(effectOf(state, body), { flying: true, question: "" });
    return;
  }
  state.decide(body.step ?? "");
  if ((body.deed ?? "do") === "do") tryStarted(state, body, at);
  else lookStarted(state, body);
}

function tryStarted(state: State, body: Body, at: number): void {
  const cell = state.located(body.step ?? "");
  const visit = body.visit ?? 1;
  if (cell.visit !== visit) {
    beginVisit(state, cell, visit, at);
    cell.kind = "work";
    cell.open = true;
    cell.body = cell.work = new Work();
  }
  const work = cell.work;
  cell.question = "";
  state.eager.delete(cell.key);
  work.attempt = body.attempt ?? 1;
  work.counted += 1;
  Object.assign(work, { flying: true, stopping: false, lost: false, outcome: null, due: null, verdict: null });
  Object.assign(work, { met: 0, fraction: 0, message: "" });
  state.flying.set(cell.key, cell);
  takeLocks(state, cell);
}

/** A look leaves the try it is about as it was. */
function lookStarted(state: State, body: Body): void {
  const cell = state.cell(body.step ?? "");
  const look: Look = { deed: body.deed ?? "", flying: true, found: null, question: "" };
  cell.work.looking = look;
  if (look.deed === "judge") cell.work.verdict = look;
  cell.work.flying = true;
  state.flying.set(cell.key, cell);
}

function lookOver(state: State, cell: Cell, found: unknown): void {
  const work = cell.work;
  const look = work.looking;
  if (look === null) return;
  Object.assign(look, { flying: false, found });
  work.looking = null;
  work.flying = false;
  if (look.deed === "judge" && found === true) work.met += 1;
  state.flying.delete(cell.key);
  if (found === true) awaitJudges(state, cell);
}

function foundBy(deed: string, body: Body): unknown {
  if (body.failure) return null;
  const output = ((body.output as Value | undefined) ?? {}).data ?? null;
  if (output !== null && typeof output === "object" && !Array.isArray(output)) {
    return output[deed === "probe" ? "happened" : "met"] ?? null;
  }
  return deed === "judge" ? output : null;
}

/** Somebody is to judge what there is. Where that cannot be afforded yet, the step is looked at again. */
export function awaitJudges(state: State, cell: Cell): void {
  const accept = cell.kind === "work" ? (cell.node.step?.accept ?? []) : [];
  const judges = cell.ways.some((way) => way !== "relax") ? [] : accept.filter((each) => each.tool || each.agent);
  if (hasBudget(cell) && cell.work.met < judges.length) state.unjudged.add(cell.key);
}

function hasBudget(cell: Cell): boolean {
  for (const each of cell.way()) {
    if (each.parent === null && each.scope.index.plan.budget) return true;
    if (each.parent?.kind !== "map" && each.node.step?.budget) return true;
    const plan = each.node.step?.plan;
    if (typeof plan === "object" && plan.budget) return true;
    if (each.tree !== each.node && each.within.index.plan.budget) return true;
  }
  return false;
}

export function attemptProgressed(state: State, body: Body): void {
  if ((body.deed ?? "do") !== "do") return;
  const work = state.cell(body.step ?? "").work;
  work.fraction = body.fraction as number;
  work.message = (body.message as string | undefined) ?? "";
}

export function attemptStopping(state: State, body: Body): void {
  if (body.deed !== "undo") state.cell(body.step ?? "").work.stopping = true;
}

export function attemptEnded(state: State, body: Body, at: number): void {
  if (body.usage) count(state, body.usage as Usage);
  if (body.deed === "undo") return undoEnded(state, body);
  const cell = state.cell(body.step ?? "");
  const deed = body.deed ?? "do";
  if (deed !== "do") return lookOver(state, cell, foundBy(deed, body));
  const work = cell.work;
  const failure = failureOf(body);
  work.flying = false;
  work.outcome = { output: body.output as Value | undefined, sandboxed: (body.sandboxed as string | undefined) ?? "" };
  if (body.approval || failure?.kind === "in_doubt") work.counted -= 1;
  state.flying.delete(cell.key);
  if (failure === null && !body.approval) awaitJudges(state, cell);
  if (body.to) {
    endVisit(state, cell, { ...resultOf(body, "success"), output: work.outcome.output ?? {}, failure: null }, at);
  }
}

function undoEnded(state: State, body: Body): void {
  const effect = effectOf(state, body);
  effect.flying = false;
  effect.failure = failureOf(body);
  if (!body.failure && !body.approval) settleEffect(state, effect, true);
}

export function settleEffect(state: State, effect: Effect, undone: boolean): void {
  effect.over = true;
  state.undoing.delete(`${effect.cell.key}:${effect.visit}`);
  const group = effect.dropped;
  if (group !== null && !group.undo.length) {
    const left = [...state.effects.values()].some((each) => each.dropped === group && !each.over);
    if (!left) state.undoers.delete(group.key);
  }
  if (undone && effect.cell.visit === effect.visit && effect.cell.result) effect.cell.result.undone = true;
}

function count(state: State, usage: Usage): void {
  state.used.tokens += usage.tokens ?? 0;
  state.used.calls += usage.calls ?? 0;
  state.used.billionths += Math.round((usage.usd ?? 0) * 1e9);
}

export function attemptLost(state: State, body: Body): void {
  if (body.deed === "undo") {
    Object.assign(effectOf(state, body), { flying: false });
    return;
  }
  const cell = state.cell(body.step ?? "");
  state.unsettled.add(cell.key);
  if ((body.deed ?? "do") !== "do") return lookOver(state, cell, null);
  const work = cell.work;
  work.flying = false;
  work.lost = true;
  if (!work.stopping) work.counted -= 1;
  state.flying.delete(cell.key);
}

export function retryPlanned(state: State, body: Body): void {
  if (body.deed === "undo") return;
  const cell = state.cell(body.step ?? "");
  state.decide(cell.key);
  if (cell.body instanceof Group) return openAgain(state, cell, cell.body);
  if ((body.deed ?? "do") !== "do") return;
  const due = body.due as number;
  cell.work.due = due;
  if (cell.question.startsWith(`q_${cell.key}_${cell.visit}_failed`)) cell.question = "";
  if (due <= state.clock(state.at)) state.eager.add(cell.key);
}

/** A visit goes on in another way, or what it gave will do after all. */
export function rungTaken(state: State, body: Body): void {
  const cell = state.cell(body.step ?? "");
  const rung = body.rung as string;
  if (rung === "retry") return;
  if (rung !== "relax") {
    goAnotherWay(state, cell, Boolean(body.strategy));
    state.decide(cell.key);
  }
  cell.ways = [...cell.ways, body.tool ? `${rung}:${body.tool}` : rung];
}

function goAnotherWay(state: State, cell: Cell, grows: boolean): void {
  const isLeaf = cell.body instanceof Work;
  if (cell.body instanceof Group) {
    if (!cell.ways.some((way) => way !== "relax")) cell.work = new Work();
    cell.work.counted = cell.body.tries;
  }
  Object.assign(cell.work, { outcome: null, lost: false, stopping: false, due: null, verdict: null, met: 0 });
  if (!grows && isLeaf) return;
  cell.status = "active";
  cell.undo = [];
  cell.question = "";
  state.undoers.delete(cell.key);
  if (!grows) {
    Object.assign(cell, { kind: "work", body: cell.work, open: true });
    return;
  }
  openAgent(state, cell);
  if (cell.body instanceof Group) cell.body.tries = cell.work.counted + 1;
}

export function effectFound(state: State, body: Body): void {
  noteEffect(state, state.cell(body.step ?? ""));
}

export function effectKept(state: State, body: Body): void {
  const effect = effectOf(state, body);
  effect.failure = failureOf(body);
  settleEffect(state, effect, false);
}
