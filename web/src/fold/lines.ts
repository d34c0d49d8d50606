// Who could begin, and who holds which lock.

import { Cell, Group } from "./cell.ts";
import type { State } from "./state.ts";

function locksOf(cell: Cell): readonly string[] {
  return cell.node.step?.locks ?? [];
}

export function locksAtEntry(cell: Cell): boolean {
  return locksOf(cell).length > 0 && cell.kind !== "ask" && cell.parent?.kind !== "map";
}

export function takeLocks(state: State, cell: Cell): void {
  for (const name of locksOf(cell)) if (!state.locks.has(name)) state.locks.set(name, cell);
}

export function releaseLocks(state: State, cell: Cell): void {
  for (const name of locksOf(cell)) if (state.locks.get(name) === cell) state.locks.delete(name);
}

/** Let a group's steps begin, or have it wait for its locks. */
export function letIn(state: State, cell: Cell): void {
  const holders = new Set(cell.way());
  const has = locksOf(cell).every((name) => holders.has(state.locks.get(name) as Cell));
  cell.open = !locksAtEntry(cell) || has;
  if (!cell.open) state.eager.add(cell.key);
}

/** A group is open: those inside that want locks of their own may ask for them. */
export function wakeWithin(state: State, cell: Cell): void {
  for (const child of cell.body instanceof Group ? cell.body.live.values() : []) {
    if (child.open) wakeWithin(state, child);
    else state.eager.add(child.key);
  }
}
