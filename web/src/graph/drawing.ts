// What the graph shows of a run: steps, groups that hold them, and what leads where. Where they stand is for the layout.

import { type Cell, Group } from "../fold/cell.ts";
import type { Node, Plan } from "../fold/plan.ts";
import { Index } from "../fold/plan.ts";
import type { State } from "../fold/state.ts";
import { stateOf } from "./standing.ts";

export type Box = {
  readonly key: string;
  readonly parent: string | null;
  readonly label: string;
  readonly kind: string;
  /** How it stands, in a word; the word is also its colour. */
  readonly state: string;
  readonly note: string;
  readonly isGroup: boolean;
  readonly isFolded: boolean;
  readonly held: number;
};

export type Line = { readonly id: string; readonly from: string; readonly to: string; readonly label: string; readonly kind: "next" | "needs" | "exit" };

export type Drawing = { readonly boxes: readonly Box[]; readonly lines: readonly Line[] };

/** So many steps of a row are put together, where there are many more. */
const CHUNK = 50;
/** So many steps are drawn at first; of larger plans the groups are folded. */
export const MANY = 150;

/** The part of a long row that stands for a step as long as it is folded; null: its row is short. */
export function chunkKey(parent: Cell, position: number): string | null {
  if (parent.kind !== "serial" || parent.children.length <= 2 * CHUNK) return null;
  return `${parent.inner}…${Math.floor(position / CHUNK) * CHUNK + 1}`;
}

export type Folds = ReadonlyMap<string, boolean>;

export function drawingOf(state: State, folds: Folds): Drawing {
  const root = state.root;
  if (root === null) return { boxes: [], lines: [] };
  const size = state.index?.byId.size ?? 0;
  const making = new Making(folds, size + state.cells.size / 2 > MANY);
  making.children(root, root.tree, root.inner, null, 0);
  return making;
}

/** A plan that nobody has carried out. */
export function drawingOfPlan(plan: Plan, folds: Folds): Drawing {
  const index = new Index(plan);
  const making = new Making(folds, index.byId.size > MANY);
  making.children(null, index.root, "", null, 0);
  return making;
}

class Making {
  readonly boxes: Box[] = [];
  readonly lines: Line[] = [];
  private readonly folds: Folds;
  private readonly isLarge: boolean;

  constructor(folds: Folds, isLarge: boolean) {
    this.folds = folds;
    this.isLarge = isLarge;
  }

  children(cell: Cell | null, tree: Node, prefix: string, parent: string | null, depth: number): void {
    if (cell?.kind === "map" && cell.body instanceof Group && cell.body.children.size) {
      this.items(cell.body, parent, depth);
      return;
    }
    const nodes = cell?.children ?? tree.children;
    const isGrown = cell?.body instanceof Group && cell.body.grown !== null;
    const serial = !isGrown && tree.serial && cell?.kind !== "map";
    const keyOf = (node: Node, place: number) => prefix + (isGrown ? String(place + 1) : node.id);
    const inChunks = serial && nodes.length > 2 * CHUNK;
    const shown = new Map<string, string>();
    nodes.forEach((node, place) => {
      const key = keyOf(node, place);
      const holder = inChunks ? this.chunk(cell, nodes, place, parent, prefix) : { key: parent, isOpen: true };
      shown.set(key, holder.isOpen ? key : (holder.key ?? key));
      if (holder.isOpen) this.step(cellAt(cell, place), node, key, holder.key, depth);
    });
    const keys = nodes.map((node, place) => keyOf(node, place));
    if (serial) this.row(keys.map((key) => shown.get(key) ?? key));
    else this.needs(nodes, keys, isGrown);
    this.exits(nodes, keys, shown);
  }

  private step(cell: Cell | null, node: Node, key: string, parent: string | null, depth: number): void {
    const isGroup = cell?.body instanceof Group || node.children.length > 0 || node.step?.kind === "map";
    const isFolded = isGroup && (this.folds.get(key) ?? (this.isLarge || depth > 2));
    const held = isGroup ? (cell?.body instanceof Group ? (cell.children.length || node.children.length) : node.children.length) : 0;
    this.boxes.push({ key, parent, label: node.step?.title || node.id, kind: node.step?.kind ?? "", ...stateOf(cell), isGroup, isFolded, held });
    if (!isGroup || isFolded) return;
    const prefix = cell !== null && cell.body instanceof Group ? cell.inner : key.slice(0, key.length - node.id.length);
    this.children(cell, cell?.tree ?? node, prefix, key, depth + 1);
  }

  /** The part of a long row that a step stands in. */
  private chunk(cell: Cell | null, nodes: readonly Node[], place: number, parent: string | null, prefix: string) {
    const first = Math.floor(place / CHUNK) * CHUNK;
    const key = `${prefix}…${first + 1}`;
    const isOpen = !(this.folds.get(key) ?? true);
    if (place === first) {
      const last = Math.min(first + CHUNK, nodes.length);
      const inside = Array.from({ length: last - first }, (_, each) => cellAt(cell, first + each));
      const label = `${first + 1} to ${last}`;
      this.boxes.push({ key, parent, label, kind: "steps", ...together(inside), isGroup: true, isFolded: !isOpen, held: last - first });
    }
    return { key, isOpen };
  }

  private items(body: Group, parent: string | null, depth: number): void {
    const items = [...body.children.values()].sort((one, other) => one.position - other.position);
    for (const item of items) {
      const key = item.key;
      const isFolded = this.folds.get(key) ?? (this.isLarge || items.length > 8);
      const label = `item ${item.position + 1}`;
      this.boxes.push({ key, parent, label, kind: "item", ...stateOf(item), isGroup: true, isFolded, held: item.children.length });
      if (!isFolded) this.children(item, item.tree, item.inner, key, depth + 1);
    }
  }

  private row(keys: readonly string[]): void {
    for (let place = 1; place < keys.length; place += 1) this.line(keys[place - 1], keys[place], "", "next");
  }

  private needs(nodes: readonly Node[], keys: readonly string[], isGrown: boolean): void {
    const byId = new Map(nodes.map((node, place) => [isGrown ? `s${place + 1}` : node.id, keys[place]]));
    nodes.forEach((node, place) => {
      for (const need of node.step?.needs ?? []) this.line(byId.get(need), keys[place], "", "needs");
    });
  }

  private exits(nodes: readonly Node[], keys: readonly string[], shown: ReadonlyMap<string, string>): void {
    const byId = new Map(nodes.map((node, place) => [node.id, keys[place] ?? ""]));
    nodes.forEach((node, place) => {
      for (const [exit, target] of Object.entries(node.step?.on ?? {})) {
        const [from, to] = [keys[place] ?? "", byId.get(target)];
        if (to !== undefined) this.line(shown.get(from), shown.get(to), exit, "exit");
      }
    });
  }

  private line(from: string | undefined, to: string | undefined, label: string, kind: Line["kind"]): void {
    if (from === undefined || to === undefined || from === to) return;
    const id = `${from}→${to}:${label}`;
    if (this.lines.at(-1)?.id !== id) this.lines.push({ id, from, to, label, kind });
  }
}

function cellAt(cell: Cell | null, place: number): Cell | null {
  return cell?.body instanceof Group ? (cell.body.children.get(place) ?? null) : null;
}

const FIRST = ["failure", "asking", "active", "stopping", "retrying", "waiting"];

/** How several steps stand, in a word: what somebody wants to know first. */
function together(cells: readonly (Cell | null)[]): { state: string; note: string } {
  const states = cells.map((each) => stateOf(each).state);
  const over = states.filter((each) => each === "success" || each === "skipped").length;
  const state = FIRST.find((each) => states.includes(each)) ?? (over === states.length ? "success" : over ? "active" : "idle");
  return { state, note: `${over}/${states.length}` };
}
