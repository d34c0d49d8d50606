// Which groups have to be open for a step to be seen.

import type { State } from "../fold/state.ts";
import { chunkKey } from "./drawing.ts";
import type { Folds } from "./drawing.ts";

/** The folds that somebody has chosen, and what is around a step unfolded where they have said nothing about it. */
export function shownBy(folds: Folds, state: State, step: string | null): Folds {
  const cell = step === null ? undefined : state.cells.get(step);
  if (cell === undefined) return folds;
  const found = new Map(folds);
  for (const each of cell.way()) {
    if (each.parent === null) break;
    const chunk = chunkKey(each.parent, each.position);
    const around = each === cell ? [chunk] : [each.key, chunk];
    for (const key of around) if (key !== null && !found.has(key)) found.set(key, false);
  }
  return found;
}
