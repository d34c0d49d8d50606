// What the facts about visits change: a step is entered, grows, is to end, is over.

import { Cell, Group, type Result, Work } from "./cell.ts";
import { type Body, failureOf, type Value } from "./entry.ts";
import { letIn, locksAtEntry, releaseLocks, takeLocks, wakeWithin } from "./lines.ts";
import { Index, type Plan, type Step } from "./plan.ts";
import { indexes, type State } from "./state.ts";

export function stepEntered(state: State, body: Body, at: number): void {
  const cell = state.located(body.step ?? "");
  beginVisit(state, cell, body.visit ?? 1, at);
  if (body.strategy) openAgent(state, cell);
  else if (cell.kind === "work" && cell.node.step?.kind !== "agent") openWork(state, cell);
  else openOther(state, cell, (body.plan as string | undefined) ?? "");
}

export function beginVisit(state: State, cell: Cell, visit: number, at: number): void {
  cell.visit = visit;
  cell.status = "active";
  cell.at = at;
  cell.age = state.nextNumber();
  cell.question = cell.signal = "";
  cell.undo = [];
  cell.isDropped = false;
  if (!cell.isItem) returnToUsual(cell);
  cell.ways = [];
  intoParent(cell);
}

function returnToUsual(cell: Cell): void {
  if (!cell.ways.length) return;
  cell.kind = cell.node.kind;
  cell.tree = cell.node;
  cell.within = cell.scope.holder === cell ? cell.within : cell.scope;
  cell.inner = cell.scope.holder === cell || cell.parent === null ? `${cell.key}.` : cell.parent.inner;
}

function intoParent(cell: Cell): void {
  const body = cell.parent?.body;
  if (!(body instanceof Group)) return;
  body.live.set(cell.position, cell);
  body.cursor = cell.position;
}

function openWork(state: State, cell: Cell): void {
  cell.body = cell.work = new Work();
  state.eager.add(cell.key);
}

function openOther(state: State, cell: Cell, digest: string): void {
  if (cell.kind === "agent") cell.kind = "work";
  if (cell.node.step?.kind === "plan" && !cell.isItem) openPlan(state, cell, digest);
  cell.open = cell.kind === "work" || !locksAtEntry(cell);
  cell.body = bodyOf(cell);
  if (cell.kind === "work" || !cell.open) state.eager.add(cell.key);
  if (cell.kind === "rollback") state.undoers.set(cell.key, cell);
  const wait = cell.node.step?.wait;
  if (cell.kind === "wait" && typeof wait === "object") cell.signal = wait.signal ?? "";
}

function bodyOf(cell: Cell): Group | Work | null {
  if (cell.kind === "work") return (cell.work = new Work());
  return cell.kind === "serial" || cell.kind === "graph" || cell.kind === "map" ? new Group(false) : null;
}

function openPlan(state: State, cell: Cell, digest: string): void {
  cell.within = { index: cell.scope.index, holder: cell };
  cell.tree = cell.node;
  if (!digest) return;
  cell.within.index = new Index(state.plans.named(digest));
  cell.tree = cell.within.index.root;
  cell.kind = cell.tree.serial ? "serial" : "graph";
  cell.inner = `${cell.key}/${cell.visit}.`;
  state.holders.set(cell.inner, cell);
}

export function openAgent(state: State, cell: Cell): void {
  cell.kind = "agent";
  cell.body = new Group(true);
  cell.inner = `${cell.key}/${cell.visit}.`;
  state.holders.set(cell.inner, cell);
  cell.within = { index: cell.scope.index, holder: cell };
  letIn(state, cell);
}

/** Do a group again that failed: its steps are forgotten, its visit goes on. */
export function openAgain(state: State, cell: Cell, before: Group): void {
  cell.status = "active";
  cell.undo = [];
  cell.question = "";
  state.undoers.delete(cell.key);
  if (cell.kind === "agent") openAgent(state, cell);
  else {
    cell.body = bodyOf(cell);
    letIn(state, cell);
  }
  if (cell.body instanceof Group) cell.body.tries = before.tries + 1;
}

export function locksTaken(state: State, body: Body): void {
  const cell = state.cell(body.step ?? "");
  cell.open = true;
  state.eager.delete(cell.key);
  takeLocks(state, cell);
  wakeWithin(state, cell);
}

export function stepsGrown(state: State, body: Body): void {
  const cell = state.cell(body.step ?? "");
  if (!(cell.body instanceof Group)) return;
  for (const raw of (body.add as Step[] | undefined) ?? []) {
    const index = new Index({ steps: [raw] } satisfies Plan);
    const node = index.root.children[0];
    if (node === undefined) continue;
    indexes.set(node, index);
    cell.body.grown?.push(node);
  }
  drop(state, cell, cell.body, (body.drop as string[] | undefined) ?? []);
}

/** What some children did is taken back from now on. Nothing older than they are is looked at. */
function drop(state: State, cell: Cell, body: Group, ids: readonly string[]): void {
  const gone = ids.map((id) => body.children.get(Number(id.slice(1)) - 1)).filter((each) => each !== undefined);
  for (const each of gone) each.isDropped = true;
  const oldest = Math.min(...gone.map((each) => each.age));
  let found = false;
  for (const effect of gone.length ? state.effects.values() : []) {
    const isIn = [...effect.cell.way()].some((each) => gone.includes(each));
    if (effect.number > oldest && !effect.over && isIn) {
      effect.dropped = cell;
      found = true;
    }
  }
  if (found || [...state.effects.values()].some((each) => each.dropped === cell && !each.over)) {
    state.undoers.set(cell.key, cell);
  }
}

// ------------------------------------------------------------------------------- the end of a visit

export function stepPassed(state: State, body: Body, at: number): void {
  const cell = state.located(body.step ?? "");
  cell.status = "over";
  cell.ended = at;
  const exit = (body.exit as string | undefined) ?? "skipped";
  end(cell, { ...resultOf(body, exit), passed: true });
}

export function stepStopping(state: State, body: Body): void {
  const cell = state.cell(body.step ?? "");
  cell.status = "stopping";
  state.decide(cell.key);
  state.eager.delete(cell.key);
  cell.undo = (body.undo as string[] | undefined) ?? [];
  if (cell.undo.length) state.undoers.set(cell.key, cell);
}

export function stepEnded(state: State, body: Body, at: number): void {
  const cell = state.cell(body.step ?? "");
  const output = (body.output as Value | null | undefined) ?? outcomeOf(cell);
  if (body.undo) noteEffect(state, cell);
  endVisit(state, cell, { ...resultOf(body, "success"), output }, at);
}

function outcomeOf(cell: Cell): Value | undefined {
  const outcome = cell.body instanceof Work ? cell.body.outcome : null;
  return outcome === null ? undefined : (outcome.output ?? {});
}

export function resultOf(body: Body, exit: string): Result {
  return {
    exit: (body.exit as string | undefined) ?? exit,
    to: (body.to as string | undefined) || "next",
    failure: failureOf(body),
    cause: (body.cause as string | undefined) ?? "",
    output: undefined,
    partial: body.partial === true,
    passed: false,
    undone: false,
  };
}

export function noteEffect(state: State, cell: Cell): void {
  const number = state.nextNumber();
  const blank = { flying: false, over: false, failure: null, question: "", dropped: null };
  state.effects.set(`${cell.key}:${cell.visit}`, { cell, visit: cell.visit, number, ...blank });
}

export function endVisit(state: State, cell: Cell, result: Result, at: number): void {
  cell.status = "over";
  cell.ended = at;
  state.stepsOver += 1;
  state.eager.delete(cell.key);
  state.decide(cell.key);
  releaseLocks(state, cell);
  if (cell.undo.length || cell.kind === "rollback") state.undoers.delete(cell.key);
  cell.signal = "";
  end(cell, result);
}

function end(cell: Cell, result: Result): void {
  cell.result = result;
  const body = cell.parent?.body;
  if (!(body instanceof Group)) return;
  body.live.delete(cell.position);
  body.cursor = cell.position;
}
