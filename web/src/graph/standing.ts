// How a step stands, in a word that has a colour, and what there is to say about it.

import { type Cell, Group, Work } from "../fold/cell.ts";
import { stepView } from "../fold/view.ts";

const GOOD: ReadonlySet<string> = new Set(["success", "approved", "elapsed", "done"]);
const KNOWN: ReadonlySet<string> = new Set(["failure", "cancelled", "skipped", "exhausted", "rejected", "expired"]);

export function stateOf(cell: Cell | null): { state: string; note: string } {
  if (cell === null || cell.visit === 0 && cell.result === null) return { state: "idle", note: "" };
  return { state: wordOf(cell), note: noteOf(cell) };
}

function wordOf(cell: Cell): string {
  if (cell.status === "stopping") return "stopping";
  if (cell.status === "over" || (cell.status === "idle" && cell.result)) return endOf(cell);
  if (cell.question || cell.kind === "ask") return "asking";
  if (cell.kind === "wait") return "waiting";
  const work = cell.body instanceof Work ? cell.body : null;
  if (work !== null && !work.flying && work.due !== null) return "retrying";
  return "active";
}

function endOf(cell: Cell): string {
  const result = cell.result;
  if (result === null) return "idle";
  if (result.undone) return "undone";
  if (cell.isDropped) return "dropped";
  if (result.exit === "failure" && result.to !== "fail" && result.partial) return "partial";
  return KNOWN.has(result.exit) ? result.exit : GOOD.has(result.exit) ? "success" : result.failure ? "failure" : "success";
}

function noteOf(cell: Cell): string {
  const seen = stepView(cell);
  const parts: string[] = [];
  if (cell.status === "over" && seen.exit && !GOOD.has(seen.exit) && !KNOWN.has(seen.exit)) parts.push(seen.exit);
  if (seen.visits > 1) parts.push(`visit ${seen.visits}`);
  if (seen.attempts > 1) parts.push(`try ${seen.attempts}`);
  if (seen.ways.length) parts.push(seen.ways.at(-1) ?? "");
  if (cell.isLive && cell.body instanceof Work && cell.body.fraction) parts.push(`${Math.round(cell.body.fraction * 100)} %`);
  if (cell.isLive && cell.body instanceof Work && cell.body.message) parts.push(cell.body.message);
  if (cell.body instanceof Group && cell.kind === "map") parts.push(`${overIn(cell.body)}/${cell.body.children.size}`);
  return parts.join(" · ");
}

function overIn(body: Group): number {
  return [...body.children.values()].filter((each) => each.status === "over").length;
}
