// Two plans in one picture: what is gone stands where it stood.

import type { Diff } from "../api/documents.ts";
import type { Plan, Step } from "../fold/plan.ts";
import { Index, type Node } from "../fold/plan.ts";

/** A plan, and in it the steps that an earlier one had and that it has no more. */
export function united(plan: Plan, before: Plan | undefined): Plan {
  if (before === undefined) return plan;
  const now = new Index(plan);
  const then = new Index(before);
  const gone = [...then.byId.values()].filter((node) => !now.byId.has(node.id) && isTop(node, now));
  return { ...plan, steps: withGone(plan.steps, "", gone) };
}

function isTop(node: Node, now: Index): boolean {
  return node.parent !== null && (node.parent.step === null || now.byId.has(node.parent.id));
}

function withGone(steps: readonly Step[], group: string, gone: readonly Node[]): readonly Step[] {
  const kept: Step[] = steps.map((step) => (step.steps ? { ...step, steps: withGone(step.steps, step.id, gone) } : step));
  for (const node of gone) {
    if ((node.parent?.id ?? "") === group && node.step) kept.splice(Math.min(node.position, kept.length), 0, node.step);
  }
  return kept;
}

export function marksOf(diff: Diff | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const step of Object.keys(diff?.changed ?? {})) found.set(step, "changed");
  for (const step of Object.keys(diff?.moved ?? {})) found.set(step, "changed");
  for (const step of Object.keys(diff?.added ?? {})) found.set(step, "added");
  for (const step of Object.keys(diff?.removed ?? {})) found.set(step, "removed");
  return found;
}
