// The documents of the server, as far as the page reads them.

import type { Body, Entry, Failure, Json } from "../fold/entry.ts";
import type { Plan } from "../fold/plan.ts";

export type Listed = {
  id: string;
  number: number;
  status: string;
  over: boolean;
  goal: string;
  session: string | null;
  parent: string | null;
  fork: { of: string; seq: number } | null;
  created: string;
  updated: string;
  wake_at: string | null;
  entries: number;
  questions: number;
  interrupted: boolean;
};

export type Runs = { runs: Listed[]; next: number | null; owner: string | null };

type StoredEntry = { run: string; seq: number; type: string; at: string | number; body: Body };

export type Entries = { entries: StoredEntry[]; next?: number | null; arrival?: number };

export type Turn = { run: string; entries: StoredEntry[] };

export type RunPlan = { revision: number; hash: string; plan: Plan };

export type Change = { field: string; before?: Json; after?: Json };

export type Diff = {
  added: { [step: string]: string };
  removed: { [step: string]: string };
  changed: { [step: string]: Change[] };
  moved: { [step: string]: { before: string; after: string } };
  plan: Change[];
};

export type Revision = Diff & { number: number; at: string; by: string; why: string };

export type Account = { spent: number; reserved: number; limit: number; overrun: number };

export type RunDocument = {
  id: string;
  status: string;
  interrupted: boolean;
  output: Json;
  wake_at: string | null;
  unplanned: string | null;
  steps: { [key: string]: { output: Json; failure: Failure | null } };
  usage: { budgets: { [step: string]: { [word: string]: Account } } };
};

/** What half of all runs stay below, and what nine of ten do. */
export type Range = { p50: number; p90: number; mean: number };

export type Progress = {
  over: { p50: string | null; p90: string | null } | null;
  fraction?: number;
  left?: Range;
  waits?: number;
  guess?: boolean;
};

export type Allowance = { of: string; limit: number; p90: number; suffices: boolean };

export type Gain = { of: string; waited: number; saves: number };

export type Estimate = {
  seconds: Range;
  elapsed: Range;
  waiting: Range;
  tokens: Range;
  usd: Range;
  unpriced: boolean;
  calls: Range;
  succeeds: number;
  guess: boolean;
  basis: { runs: number; steps: { [word: string]: number }; guessed: string[]; open_ended: string[]; simulated: number };
  budget: Allowance[];
  capacity: Gain[];
  advice: string[];
};

export type Question = {
  number: number;
  run: string;
  id: string;
  step: string;
  text: string;
  answer: string;
  about: string;
  choices: string[];
  form: { properties?: { [name: string]: { type?: string; enum?: Json[]; title?: string; description?: string } }; required?: string[] } | null;
  people: string[];
  asked: string;
  status: string;
  after?: { [word: string]: Json } | null;
  until?: string | null;
  silence?: string | null;
  answers?: { [answer: string]: string };
  over?: string;
  value?: Json;
  by?: string;
  reason?: string | null;
};

export type Remedy = { did: string; after: number | null; tool: string; by: string };

export type Trouble = { attempt: number; kind: string; message: string; remedies: Remedy[] };

export type Failures = { failures: { step: string; visit: number; troubles: Trouble[]; helped: string }[] };

export function entryOf(stored: StoredEntry): Entry {
  return { ...stored, at: typeof stored.at === "number" ? stored.at : Date.parse(stored.at) };
}
