// What is selected, in all views at once. It stands in the address.

import { say, usePlace } from "../route.ts";

export type Tab = "graph" | "timeline" | "log" | "plan";

export type Selection = { step: string | null; at: number | null; tab: Tab };

const TABS: readonly Tab[] = ["graph", "timeline", "log", "plan"];

export function useSelection(): Selection {
  const words = usePlace().searchParams;
  const at = Number(words.get("at") ?? Number.NaN);
  const tab = TABS.find((each) => each === words.get("view")) ?? "graph";
  return { step: words.get("step"), at: Number.isInteger(at) && at > 0 ? at : null, tab };
}

export function select(step: string | null): void {
  say({ step });
}

export function lookAt(seq: number | null): void {
  say({ at: seq === null ? null : String(seq) });
}

export function show(tab: Tab): void {
  say({ view: tab === "graph" ? null : tab });
}
