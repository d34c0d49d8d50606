// A run whose plan was revised: its steps stand in the new tree, with all that they have done.

import { Cell, Group } from "./cell.ts";
import type { Body } from "./entry.ts";
import { Index, type Node, type Step } from "./plan.ts";
import type { State } from "./state.ts";

type Edit = { readonly insert?: Step; readonly step?: Step };

export function runRevised(state: State, body: Body): void {
  state.revision += 1;
  const before = state.index;
  const after = new Index(state.plans.at(state.revision));
  state.index = after;
  const cells = [...reachable(state.cell(""))].filter((cell) => cell.scope.index === before);
  const held = [...reachable(state.cell(""))].filter((cell) => cell.within.index === before);
  for (const cell of cells) cell.scope.index = after;
  for (const cell of held) cell.within.index = after;
  for (const cell of cells) rebind(cell, after);
  const born = new Set((body.edits as Edit[]).map((each) => (each.insert ?? each.step)?.id));
  for (const cell of new Set([...cells, ...held])) refit(state, cell, born);
}

function* reachable(top: Cell): Generator<Cell> {
  const left = [top];
  for (let cell = left.pop(); cell; cell = left.pop()) {
    yield cell;
    if (cell.body instanceof Group) left.push(...cell.body.children.values());
  }
}

function rebind(cell: Cell, index: Index): void {
  const node = cell.node.id === "" ? index.root : index.byId.get(cell.node.id);
  if (node === undefined) return;
  if (cell.tree === cell.node) cell.tree = node;
  cell.node = node;
  const keeps = cell.isItem || cell.isLive || cell.body instanceof Group;
  if (!keeps) cell.kind = node.kind;
}

/** Give every child its new place. One that is gone was not reached in this visit. */
function refit(state: State, cell: Cell, born: ReadonlySet<string | undefined>): void {
  const body = cell.body;
  if (!(body instanceof Group) || body.grown !== null || cell.kind === "map") return;
  const places = new Map(cell.tree.children.map((child) => [child.id, child.position]));
  const children = [...body.children.values()];
  const here = body.children.get(body.cursor);
  body.children.clear();
  for (const child of children) {
    const place = places.get(child.node.id);
    if (place === undefined) continue;
    child.position = place;
    body.children.set(place, child);
  }
  const live = [...body.live.values()];
  body.live.clear();
  for (const child of live) body.live.set(child.position, child);
  body.cursor = here === undefined ? -1 : (places.get(here.node.id) ?? -1);
  if (cell.kind === "serial") stepBack(state, cell, body, born);
}

/** What was put right before a step that is about to be entered again comes first. */
function stepBack(state: State, cell: Cell, body: Group, born: ReadonlySet<string | undefined>): void {
  const here = body.children.get(body.cursor);
  if (here === undefined || here.status !== "idle" || cell.status !== "active") return;
  const nodes: readonly Node[] = cell.tree.children;
  let place = body.cursor;
  while (place > 0 && born.has(nodes[place - 1]?.id) && !body.children.has(place - 1)) place -= 1;
  body.cursor = state.child(cell, place).position;
}
