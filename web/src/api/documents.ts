// The documents of the server, as far as the page reads them. Their types are made from what the server says of itself;
// only what it leaves open, plans and values, is said more exactly here.

import type { Body, Entry, Json } from "../fold/entry.ts";
import type { Plan } from "../fold/plan.ts";
import type { components } from "./schema.d.ts";

type Schemas = components["schemas"];
type With<Known, Own> = Omit<Known, keyof Own> & Own;

export type Me = Schemas["Me"];
export type Listed = Schemas["ListedRun"];
export type Runs = Schemas["Runs"];
export type Begun = Schemas["Begun"];

type StoredEntry = With<Schemas["Entry"], { body: Body }>;
export type Entries = With<Schemas["Entries"], { entries: StoredEntry[] }>;
export type Turn = With<Schemas["Turn"], { entries: StoredEntry[] }>;

export type PlanDocument = With<Schemas["Plan"], { plan: Plan }>;
export type RunPlan = With<Schemas["RunPlan"], { plan: Plan }>;
export type Planned = With<Schemas["Planned-Output"], { plan: Plan }>;
export type Checks = Schemas["Check-Output"];
export type Flaw = Schemas["Flaw"];
export type Problem = Schemas["Problem"];

export type Change = Schemas["Change"];
export type Diff = Pick<Schemas["Revision"], "added" | "removed" | "changed" | "moved" | "plan">;
export type Revisions = Schemas["Revisions"];

export type Account = Schemas["Account"];
type StepDocument = With<Schemas["Step"], { output: Json }>;
export type RunDocument = With<Schemas["Run"], { output: Json; steps: { [key: string]: StepDocument } }>;

export type Range = Schemas["Range"];
export type Progress = Schemas["Progress"];
type Allowance = { of: string; limit: number; p90: number; suffices: boolean };
type Gain = { of: string; waited: number; saves: number };
export type Estimate = With<Schemas["Estimate-Output"], { budget: Allowance[]; capacity: Gain[] }>;

type Property = { type?: string; enum?: Json[]; title?: string; description?: string };
type Form = { properties?: { [name: string]: Property }; required?: string[] };
export type Question = With<Schemas["ListedQuestion"], { form: Form | null }>;
export type Questions = With<Schemas["Questions"], { questions: Question[] }>;

export type Remedy = Schemas["Remedy"];
export type Failures = Schemas["Failures"];
export type Memories = Schemas["Memories"];
export type Templates = Schemas["Templates"];

export function entryOf(stored: StoredEntry): Entry {
  return { ...stored, at: Date.parse(stored.at ?? "") };
}
