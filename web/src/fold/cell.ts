// One step as it stands in a run. Cells form a tree like the plan's, and are made when a step is first reached.

import type { Failure, Value } from "./entry.ts";
import type { Index, Kind, Node } from "./plan.ts";

export type Status = "idle" | "active" | "stopping" | "over";

/** Whose ids are looked up where, and what holds the steps. */
export type Scope = { index: Index; holder: Cell | null };

/** What a group holds. A group that is entered anew has a new one, and the old steps are forgotten. */
export class Group {
  readonly children = new Map<number, Cell>();
  readonly live = new Map<number, Cell>();
  /** Steps that an agent has grown; null where the plan says which there are. */
  readonly grown: Node[] | null;
  tries = 1;
  cursor = -1;

  constructor(grown: boolean) {
    this.grown = grown ? [] : null;
  }
}

export type Look = { deed: string; flying: boolean; found: unknown; question: string };

/** The tries at one visit of an acting step. */
export class Work {
  readonly tries = true;
  attempt = 0;
  counted = 0;
  flying = false;
  stopping = false;
  lost = false;
  outcome: { output: Value | undefined; sandboxed: string } | null = null;
  due: number | null = null;
  met = 0;
  looking: Look | null = null;
  verdict: Look | null = null;
  fraction = 0;
  message = "";
}

export type Result = {
  exit: string;
  to: string;
  failure: Failure | null;
  cause: string;
  output: Value | undefined;
  partial: boolean;
  passed: boolean;
  undone: boolean;
};

export class Cell {
  readonly key: string;
  readonly parent: Cell | null;
  readonly isItem: boolean;
  readonly scope: Scope;
  node: Node;
  /** Whose children its children are. */
  tree: Node;
  position: number;
  within: Scope;
  /** What the keys of its children begin with. */
  inner: string;
  kind: Kind;
  status: Status = "idle";
  visit = 0;
  at = 0;
  age = 0;
  ended = 0;
  open = true;
  body: Group | Work | null = null;
  work = new Work();
  result: Result | null = null;
  question = "";
  undo: readonly string[] = [];
  ways: readonly string[] = [];
  /** An agent has tried it, and goes another way. */
  isDropped = false;
  /** The signal that it waits for, as long as it has not come. */
  signal = "";

  constructor(key: string, node: Node, parent: Cell | null, position: number, scope: Scope, isItem = false) {
    this.key = key;
    this.node = this.tree = node;
    this.parent = parent;
    this.position = position;
    this.scope = this.within = scope;
    this.inner = parent?.inner ?? "";
    this.kind = isItem ? (node.serial ? "serial" : "graph") : node.kind;
    this.isItem = isItem;
  }

  get isLive(): boolean {
    return this.status === "active" || this.status === "stopping";
  }

  get children(): readonly Node[] {
    return this.body instanceof Group && this.body.grown !== null ? this.body.grown : this.tree.children;
  }

  /** It and all that it stands in, the innermost first. */
  *way(): Generator<Cell> {
    for (let cell: Cell | null = this; cell !== null; cell = cell.parent) yield cell;
  }
}

/** What an ended step is to the group around it. */
export function verdictOf(result: Result): "good" | "bad" | "skipped" {
  if (result.exit === "skipped" && result.to === "next") return "skipped";
  return (result.to === "next" || result.to === "done") && result.exit !== "cancelled" ? "good" : "bad";
}
