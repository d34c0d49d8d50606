// What somebody has to write to answer a question, field by field.

import type { Question } from "../api/documents.ts";
import type { Json } from "../fold/entry.ts";

export type Field = {
  readonly name: string;
  readonly title: string;
  readonly type: "text" | "number" | "boolean" | "json";
  readonly required: boolean;
  readonly choices?: readonly string[];
};

export function fieldsOf(question: Question): Field[] {
  if (question.about === "budget") return [{ name: "", title: "How much more", type: "number", required: true }];
  if (question.answer === "text") return [{ name: "", title: "Answer", type: "text", required: true }];
  if (question.answer !== "form") return [];
  const needed = new Set(question.form?.required ?? []);
  return Object.entries(question.form?.properties ?? {}).map(([name, schema]) => ({
    name,
    title: schema.title ?? schema.description ?? name,
    type: typeOf(schema.type),
    required: needed.has(name),
    ...(schema.enum ? { choices: schema.enum.map(String) } : schema.type === "boolean" ? { choices: ["true", "false"] } : {}),
  }));
}

function typeOf(word: string | undefined): Field["type"] {
  if (word === "number" || word === "integer") return "number";
  return word === "boolean" ? "boolean" : word === "string" || word === undefined ? "text" : "json";
}

export function valueOf(question: Question, fields: readonly Field[], said: { readonly [name: string]: string }): Json {
  const [first] = fields;
  if (question.answer !== "form" && first) return read(first, said[first.name] ?? "");
  const given = fields.filter((field) => (said[field.name] ?? "") !== "");
  return Object.fromEntries(given.map((field) => [field.name, read(field, said[field.name] ?? "")]));
}

function read(field: Field, text: string): Json {
  if (field.type === "number") return Number(text);
  if (field.type === "boolean") return text === "true";
  if (field.type !== "json") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // the server says what is wrong with it
  }
}
