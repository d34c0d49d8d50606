// A plan as a tree that can be asked for a step by its id.

import type { Json } from "./entry.ts";

export type Step = {
  readonly id: string;
  readonly kind: string;
  readonly title?: string;
  readonly needs?: readonly string[];
  readonly on?: { readonly [exit: string]: string };
  readonly steps?: readonly Step[];
  readonly mode?: "serial" | "graph";
  readonly plan?: string | Plan;
  readonly wait?: { readonly signal?: string } | number | string;
  readonly decide?: Json;
  readonly locks?: readonly string[];
  readonly budget?: Json;
  readonly accept?: readonly { readonly tool?: string; readonly agent?: string }[];
  readonly [field: string]: unknown;
};

export type Plan = {
  readonly name?: string;
  readonly goal?: string;
  readonly steps: readonly Step[];
  readonly mode?: "serial" | "graph";
  readonly budget?: Json;
  readonly inputs?: { readonly [name: string]: Json };
  readonly [field: string]: unknown;
};

/** What a step is to a run. `work` has attempts; `mark` is over as soon as it is entered. */
export type Kind = "work" | "serial" | "graph" | "map" | "agent" | "ask" | "wait" | "rollback" | "mark";

export class Node {
  readonly id: string;
  readonly step: Step | null;
  readonly parent: Node | null;
  readonly position: number;
  readonly serial: boolean;
  readonly children: Node[] = [];

  constructor(step: Step | null, holder: Plan | Step | null, parent: Node | null, position: number) {
    this.id = step?.id ?? "";
    this.step = step;
    this.parent = parent;
    this.position = position;
    this.serial = holder !== null && (holder.mode ?? "serial") === "serial";
  }

  get kind(): Kind {
    return kindOf(this);
  }
}

const KINDS: { readonly [kind: string]: Kind } = {
  tool: "work", model: "work", agent: "work", ask: "ask", wait: "wait", rollback: "rollback", map: "map",
};

function kindOf(node: Node): Kind {
  const step = node.step;
  if (step === null || step.kind === "group" || step.kind === "plan") return node.serial ? "serial" : "graph";
  if (step.kind === "decide") return typeof step.decide === "string" ? "mark" : "work";
  return KINDS[step.kind] ?? "mark";
}

const WORDS = [
  "tool", "model", "agent", "decide", "ask", "wait", "checkpoint", "rollback", "map", "plan", "done", "fail",
] as const;

/** A step as somebody may have written it, in the form that plans are kept in. Steps that grow are told as written. */
function written(raw: Step): Step {
  const steps = (raw.steps ?? raw.parallel) as readonly Step[] | undefined;
  const kind = raw.kind ?? WORDS.find((word) => word in raw) ?? "group";
  if (steps === undefined) return raw.kind ? raw : { ...raw, kind };
  const isGraph = "parallel" in raw || steps.some((each) => "needs" in each);
  return { ...raw, kind, steps, mode: raw.mode ?? (isGraph ? "graph" : "serial") };
}

/** What holds a step's children: itself, or the plan that is written in it. */
function holderOf(step: Step): Plan | Step | null {
  if (step.kind === "plan") return typeof step.plan === "object" ? step.plan : null;
  return step.steps === undefined ? null : step;
}

export class Index {
  readonly plan: Plan;
  readonly root: Node;
  readonly byId = new Map<string, Node>();

  constructor(plan: Plan) {
    this.plan = plan;
    this.root = new Node(null, plan, null, 0);
    const left: [Node, readonly Step[]][] = [[this.root, plan.steps]];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [parent, steps] = next;
      steps.forEach((raw, position) => {
        const step = written(raw);
        const holder = holderOf(step);
        const node = new Node(step, holder, parent, position);
        parent.children.push(node);
        if (!this.byId.has(node.id)) this.byId.set(node.id, node);
        if (holder !== null) left.push([node, holder.steps ?? []]);
      });
    }
  }
}

/** The positions of those that need each child of a graph. */
export function dependentsIn(group: readonly Node[]): number[][] {
  const positions = new Map(group.map((child) => [child.id, child.position]));
  const found: number[][] = group.map(() => []);
  for (const child of group) {
    for (const need of new Set(child.step?.needs ?? [])) {
      const position = positions.get(need);
      if (position !== undefined) found[position]?.push(child.position);
    }
  }
  return found;
}

/** Where the plans of a run are found. */
export type Plans = {
  /** The plan after so many revisions. */
  at(revision: number): Plan;
  /** A plan that is called by its name. */
  named(digest: string): Plan;
};
