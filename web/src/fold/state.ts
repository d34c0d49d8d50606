// A run, as far as its facts tell it.

import { Cell, Group, type Scope } from "./cell.ts";
import type { Failure, Value } from "./entry.ts";
import { Index, type Plans } from "./plan.ts";

export type Effect = {
  cell: Cell;
  visit: number;
  number: number;
  flying: boolean;
  over: boolean;
  failure: Failure | null;
  question: string;
  /** The group that takes it back while it goes on. */
  dropped: Cell | null;
};

export type Question = {
  readonly id: string;
  readonly step: string;
  readonly visit: number;
  readonly text: string;
  readonly about: string;
  readonly deed: string;
  readonly at: number;
};

export class State {
  readonly run: string;
  readonly plans: Plans;
  seq = 0;
  /** The time of its last fact. */
  at = 0;
  goal = "";
  plan = "";
  session = "";
  inputs: Value | undefined;
  revision = 0;
  index: Index | null = null;
  root: Cell | null = null;
  fork: { of: string; seq: number } | null = null;
  ended: { status: string; failure: Failure | null; cause: string; partial: boolean } | null = null;
  stopping = false;
  pausedAt: number | null = null;
  paused = 0;
  readonly cells = new Map<string, Cell>();
  readonly holders = new Map<string, Cell>();
  readonly flying = new Map<string, Cell>();
  /** Those that could begin, and wait for room or for a lock. */
  readonly eager = new Set<string>();
  readonly unsettled = new Set<string>();
  readonly unjudged = new Set<string>();
  readonly locks = new Map<string, Cell>();
  readonly questions = new Map<string, Question>();
  readonly asked = new Map<string, Question>();
  readonly answered = new Set<string>();
  readonly effects = new Map<string, Effect>();
  readonly undoing = new Map<string, Effect>();
  readonly undoers = new Map<string, Cell>();
  readonly used = { tokens: 0, calls: 0, billionths: 0 };
  stepsOver = 0;
  attempts = 0;
  private numbers = 0;

  constructor(run: string, plans: Plans) {
    this.run = run;
    this.plans = plans;
  }

  /** The run's own time, which stands still while it is paused. */
  clock(at: number): number {
    return (this.pausedAt ?? at) - this.paused;
  }

  nextNumber(): number {
    this.numbers += 1;
    return this.numbers;
  }

  /** It is decided what follows from what a step has done. */
  decide(key: string): void {
    this.unsettled.delete(key);
    this.unjudged.delete(key);
  }

  cell(key: string): Cell {
    const found = this.cells.get(key);
    if (found === undefined) throw new Error(`there is no step ${key}`);
    return found;
  }

  /** A step by its key, made if it was not there, or was forgotten with the group around it. */
  located(key: string): Cell {
    const cell = this.cells.get(key);
    if (cell !== undefined && (cell.parent === null || this.isThere(cell, cell.parent))) return cell;
    const [parent, position] = this.placeOf(key);
    return this.child(parent, position);
  }

  child(parent: Cell, position: number): Cell {
    const body = parent.body;
    if (!(body instanceof Group)) throw new Error(`${parent.key} holds no steps`);
    const known = body.children.get(position);
    if (known !== undefined) return known;
    const cell = this.made(parent, body, position);
    body.children.set(position, cell);
    this.cells.set(cell.key, cell);
    return cell;
  }

  private isThere(cell: Cell, parent: Cell): boolean {
    const isChild = parent.body instanceof Group && parent.body.children.get(cell.position) === cell;
    return isChild && (this.cells.get(parent.key) ?? parent) === parent;
  }

  private placeOf(key: string): [Cell, number] {
    if (key.endsWith("]")) {
      const base = key.slice(0, key.lastIndexOf("["));
      return [this.cell(base.slice(0, base.lastIndexOf("/"))), Number(key.slice(base.length + 1, -1))];
    }
    const prefix = key.slice(0, key.lastIndexOf(".") + 1);
    const holder = this.holders.get(prefix);
    const name = key.slice(prefix.length);
    if (holder === undefined) throw new Error(`nothing holds ${key}`);
    if (/^[0-9]+$/.test(name)) return [holder, Number(name) - 1];
    const node = holder.within.index.byId.get(name);
    if (node === undefined) throw new Error(`the plan has no step ${name}`);
    return [this.parentOf(node.parent, holder), node.position];
  }

  private parentOf(above: Cell["node"] | null, holder: Cell): Cell {
    if (above === null || above === holder.tree) return holder;
    return this.child(this.parentOf(above.parent, holder), above.position);
  }

  private made(parent: Cell, body: Group, position: number): Cell {
    if (parent.kind === "map") {
      const key = `${parent.key}/${parent.visit}[${position}]`;
      return this.holding(new Cell(key, parent.node, parent, position, parent.scope, true), parent.scope.index);
    }
    if (body.grown !== null) return this.madeGrown(parent, body.grown, position);
    const node = parent.tree.children[position];
    if (node === undefined) throw new Error(`${parent.key} has no step at ${position}`);
    return new Cell(parent.inner + node.id, node, parent, position, parent.within);
  }

  private madeGrown(parent: Cell, grown: readonly Cell["node"][], position: number): Cell {
    const node = grown[position];
    if (node === undefined) throw new Error(`${parent.key} has grown no step ${position + 1}`);
    const index = indexes.get(node) ?? parent.scope.index;
    return this.holding(new Cell(`${parent.inner}${position + 1}`, node, parent, position, parent.within), index);
  }

  private holding(cell: Cell, index: Index): Cell {
    cell.within = { index, holder: cell } satisfies Scope;
    cell.inner = `${cell.key}.`;
    this.holders.set(cell.inner, cell);
    return cell;
  }
}

/** The plan of its own that each grown step has. */
export const indexes = new WeakMap<Cell["node"], Index>();
