// A run that was over goes on: groups become active again with the bodies they had.

import { Cell, Group, verdictOf, Work } from "./cell.ts";
import type { Body } from "./entry.ts";
import { locksAtEntry, wakeWithin } from "./lines.ts";
import { dependentsIn } from "./plan.ts";
import type { State } from "./state.ts";

/** What becomes of a step: a group goes on, a doubt is settled, it is entered anew, it is looked at again. */
type Fate = "active" | "resumed" | "again" | "unpassed";
type Fates = Map<Cell, Fate>;

export function runReopened(state: State, body: Body): void {
  const root = state.cell("");
  const chosen = state.cell(body.step ?? "");
  const way = new Map<string, Cell>();
  for (const each of chosen.way()) if (each.parent) way.set(each.parent.key, each);
  const found: Fates = new Map();
  foresee(state, root, way, found);
  state.paused += state.at - (state.pausedAt ?? state.at);
  state.pausedAt = state.ended = null;
  state.stopping = false;
  for (const [cell, fate] of found) meet(cell, fate);
  wakeWithin(state, root);
}

function foresee(state: State, cell: Cell, way: ReadonlyMap<string, Cell>, found: Fates): void {
  found.set(cell, "active");
  const body = cell.body;
  if (!(body instanceof Group)) return;
  if (cell.kind === "serial") {
    const here = way.get(cell.key) ?? body.children.get(body.cursor);
    if (here) foreseeChild(state, here, way, found);
    return;
  }
  for (const child of body.children.values()) foreseeChild(state, child, way, found);
  const again = [...body.children.values()].filter((each) => found.has(each) || each.status !== "over");
  const dependents = cell.kind === "map" ? [] : dependentsOf(cell, body);
  for (let next = again.pop(); next; next = again.pop()) again.push(...forgotten(next, body, dependents, found));
}

function foreseeChild(state: State, cell: Cell, way: ReadonlyMap<string, Cell>, found: Fates): void {
  const isChosen = cell.parent !== null && way.get(cell.parent.key) === cell;
  if (cell.result !== null && verdictOf(cell.result) !== "bad" && !isChosen) return;
  const wasEntered = cell.body instanceof Group && cell.result !== null && !cell.result.passed;
  if (isInDoubt(state, cell)) found.set(cell, "resumed");
  else if (wasEntered && (!isChosen || way.has(cell.key))) foresee(state, cell, way, found);
  else found.set(cell, "again");
}

function isInDoubt(state: State, cell: Cell): boolean {
  const failed = cell.body instanceof Work && cell.result?.failure?.kind === "in_doubt";
  return failed && !state.answered.has(cell.question);
}

/** Steps that were passed by and need one that is to come again, unless one that needs them goes on. */
function forgotten(cell: Cell, body: Group, dependents: readonly number[][], found: Fates): Cell[] {
  const isReliedOn = (child: Cell) =>
    (dependents[child.position] ?? []).some((each) => {
      const fate = found.get(body.children.get(each) as Cell);
      return fate === "active" || fate === "resumed";
    });
  const gone: Cell[] = [];
  for (const position of dependents[cell.position] ?? []) {
    const child = body.children.get(position);
    if (!child || found.has(child) || child.status !== "over" || isReliedOn(child)) continue;
    if (!child.result?.passed) continue;
    found.set(child, "unpassed");
    gone.push(child);
  }
  return gone;
}

function dependentsOf(cell: Cell, body: Group): number[][] {
  if (body.grown === null) return dependentsIn(cell.tree.children);
  const found: number[][] = body.grown.map(() => []);
  body.grown.forEach((node, position) => {
    for (const need of new Set(node.step?.needs ?? [])) found[Number(need.slice(1)) - 1]?.push(position);
  });
  return found;
}

function meet(cell: Cell, fate: Fate): void {
  const goesOn = fate === "active" || fate === "resumed";
  if (goesOn) {
    cell.status = "active";
    cell.result = null;
  } else cell.status = "idle";
  if (fate === "active") {
    cell.undo = [];
    cell.open = !locksAtEntry(cell);
  }
  if (fate === "resumed") {
    cell.question = "";
    Object.assign(cell.work, { lost: true, stopping: false, due: null, verdict: null, met: 0 });
  }
  const body = cell.parent?.body;
  if (!(body instanceof Group)) return;
  if (goesOn) body.live.set(cell.position, cell);
  body.cursor = cell.position;
}
