// What a fact says, in a few words. What strangers have written in it is shown as it is.

import type { Body, Entry, Failure, Usage } from "../fold/entry.ts";

type Say = (body: Body) => string;

const SAID: { readonly [type: string]: Say } = {
  run_started: () => "the run has started",
  run_paused: (body) => `paused${by(body)}${why(body)}`,
  run_resumed: (body) => `goes on${by(body)}`,
  run_stopping: (body) => `is to end: ${body.exit}${by(body)}${why(body)}`,
  run_reopened: (body) => `is open again${by(body)}`,
  run_revised: (body) => `the plan was revised${by(body)}: ${editsIn(body)}${why(body, "why")}`,
  revision_refused: (body) => `a revision was refused: ${body.reason}`,
  names_mapped: (body) => `names stand for others now${by(body)}`,
  run_forked: (body) => `goes its own way from ${body.of}, after ${body.seq} facts`,
  run_ended: (body) => `the run is over: ${body.status}${failed(body)}`,
  step_entered: (body) => `entered${body.strategy ? `, by ${body.strategy}` : ""}`,
  step_passed: (body) => `passed by: ${body.exit ?? "skipped"}${failed(body)}`,
  locks_taken: () => "has its locks",
  step_stopping: (body) => `is to end: ${body.exit ?? "cancelled"}${failed(body)}`,
  step_ended: (body) => `over: ${body.exit ?? "success"}${leads(body)}${failed(body)}`,
  steps_grown: (body) => grown(body),
  attempt_started: (body) => `${deed(body)} ${body.attempt ?? 1} has begun`,
  attempt_progressed: (body) => `${Math.round(Number(body.fraction) * 100)} % ${body.message ?? ""}`,
  attempt_stopping: () => "took too long, and is to stop",
  attempt_ended: (body) => `${deed(body)} ${body.attempt ?? 1}: ${ended(body)}${failed(body)}${cost(body)}`,
  attempt_lost: (body) => `${deed(body)} ${body.attempt ?? 1} was lost: its process is gone`,
  retry_planned: () => "will be tried again",
  rung_taken: (body) => `goes on after ${body.kind}: ${body.rung}${body.tool ? ` by ${body.tool}` : ""}`,
  effect_found: () => "may have had an effect, which is to be taken back",
  effect_kept: (body) => `could not be taken back${failed(body)}`,
  question_asked: (body) => `asks: ${body.text}`,
  question_answered: (body) => `answered${by(body)}: ${short((body.value as { data?: unknown }).data)}${why(body)}`,
  question_closed: (body) => (body.late ? "nobody answered in time" : "needs no answer any more"),
  signal_received: (body) => `the signal ${body.name} has come${by(body)}`,
  signal_taken: (body) => `took the signal ${body.name}`,
};

export function sentence(entry: Entry): string {
  return SAID[entry.type]?.(entry.body) ?? entry.type;
}

const DEEDS: { readonly [deed: string]: string } = { undo: "taking back", probe: "a look", judge: "a judgement" };

function deed(body: Body): string {
  return DEEDS[body.deed ?? ""] ?? "try";
}

function by(body: Body): string {
  return body.by ? ` by ${body.by}` : "";
}

function why(body: Body, word = "reason"): string {
  return body[word] ? ` (${body[word]})` : "";
}

function failed(body: Body): string {
  const failure = body.failure as Failure | undefined | null;
  return failure ? `: ${failure.kind}: ${failure.message}` : "";
}

function ended(body: Body): string {
  return body.approval ? "somebody has to agree first" : ((body.exit as string | undefined) ?? "success");
}

function leads(body: Body): string {
  return body.to && body.to !== "next" ? `, leads to ${body.to}` : "";
}

function cost(body: Body): string {
  const usage = body.usage as Usage | undefined | null;
  return usage?.tokens ? ` (${usage.tokens} tokens)` : "";
}

function grown(body: Body): string {
  const added = ((body.add as unknown[] | undefined) ?? []).length;
  const dropped = ((body.drop as unknown[] | undefined) ?? []).length;
  if (body.items !== undefined) return `has ${body.items} items`;
  return `${added} steps grown${dropped ? `, ${dropped} dropped` : ""}`;
}

function editsIn(body: Body): string {
  const edits = (body.edits as { [verb: string]: unknown }[] | undefined) ?? [];
  return edits.map((each) => ["insert", "replace", "remove", "amend"].find((verb) => verb in each)).join(", ");
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
