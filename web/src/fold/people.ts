// What the facts about questions and signals change.

import { Group, Work } from "./cell.ts";
import type { Body, Value } from "./entry.ts";
import { awaitJudges } from "./attempts.ts";
import { releaseLocks } from "./lines.ts";
import type { State } from "./state.ts";

export function questionAsked(state: State, body: Body, at: number): void {
  const cell = state.cell(body.step ?? "");
  const id = body.question ?? "";
  const about = (body.about as string | undefined) ?? "plan";
  const deed = body.deed ?? "do";
  const put = { id, step: cell.key, visit: body.visit ?? 1, text: body.text as string, about, deed, at };
  state.questions.set(id, put);
  state.asked.set(id, put);
  if (about === "budget") return;
  if (deed === "undo") {
    const effect = state.undoing.get(`${cell.key}:${put.visit}`);
    if (effect) effect.question = id;
    return;
  }
  state.decide(cell.key);
  if (deed === "judge" && cell.work.verdict !== null) cell.work.verdict.question = id;
  else {
    cell.question = id;
    state.eager.delete(cell.key);
    if (cell.body instanceof Work) cell.body.due = null;
  }
  if (!(cell.body instanceof Group && cell.status === "active")) releaseLocks(state, cell);
}

export function questionAnswered(state: State, body: Body): void {
  const id = body.question ?? "";
  const asked = state.questions.get(id);
  state.questions.delete(id);
  state.answered.add(id);
  if (asked === undefined) return;
  const cell = state.cell(asked.step);
  if (asked.about === "doubt") state.unsettled.add(cell.key);
  else if (asked.deed === "judge") awaitJudges(state, cell);
  if (asked.about !== "recovery" || !(cell.body instanceof Work)) return;
  if (choiceOf(body.value as Value) !== "done") return;
  cell.work.verdict = null;
  cell.work.met = 0;
  awaitJudges(state, cell);
}

function choiceOf(value: Value): unknown {
  const said = value.data;
  return said !== null && typeof said === "object" && !Array.isArray(said) ? said.choice : said;
}

export function questionClosed(state: State, body: Body): void {
  state.questions.delete(body.question ?? "");
}

export function signalTaken(state: State, body: Body): void {
  state.cell(body.step ?? "").signal = "";
}
