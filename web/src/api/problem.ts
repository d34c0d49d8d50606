// What the server says when it does not do what was asked.

export type Flaw = {
  code?: string;
  message: string;
  path?: (string | number)[] | string | null;
  line?: number | null;
  column?: number | null;
  help?: string | null;
  hint?: string | null;
  severity?: string;
};

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly help: string;
  readonly flaws: readonly Flaw[];

  constructor(status: number, said: { [field: string]: unknown }) {
    super(textOf(said.detail) || textOf(said.title) || `the server answered ${status}`);
    this.status = status;
    this.code = textOf(said.code);
    this.help = textOf(said.help);
    this.flaws = Array.isArray(said.problems) ? (said.problems as Flaw[]) : [];
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What went wrong, in a sentence, whoever says so. */
export function saidOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
