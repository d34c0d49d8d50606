// What the server says when it does not do what was asked.

import type { Flaw, Problem } from "./documents.ts";

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly help: string;
  readonly flaws: readonly Flaw[];

  constructor(status: number, said: Partial<Problem>) {
    super(said.detail || said.title || `the server answered ${status}`);
    this.status = status;
    this.code = said.code ?? "";
    this.help = said.help ?? "";
    this.flaws = said.problems ?? [];
  }
}

/** What went wrong, in a sentence, whoever says so. */
export function saidOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
