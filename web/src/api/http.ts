// Requests to the server that this page came from, and to no other.

import type { Problem } from "./documents.ts";
import { Refused } from "./problem.ts";

type Query = { readonly [name: string]: string | number | boolean | readonly string[] | undefined };

export async function get<Answer>(path: string, query: Query = {}): Promise<Answer> {
  return answerOf<Answer>(await fetch(path + written(query), { headers: { Accept: "application/json" } }));
}

export async function post<Answer>(path: string, body: unknown = {}, headers: HeadersInit = {}): Promise<Answer> {
  const said = { Accept: "application/json", "Content-Type": "application/json", ...headers };
  return answerOf<Answer>(await fetch(path, { method: "POST", headers: said, body: JSON.stringify(body) }));
}

export async function remove(path: string): Promise<void> {
  await answerOf(await fetch(path, { method: "DELETE" }));
}

function written(query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) words.append(name, String(each));
  }
  const text = words.toString();
  return text && `?${text}`;
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
  const said: unknown = isJson ? await response.json() : await response.text();
  if (response.ok) return said as Answer;
  throw new Refused(response.status, isJson ? (said as Partial<Problem>) : {});
}

export function pathOf(...parts: string[]): string {
  return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}
