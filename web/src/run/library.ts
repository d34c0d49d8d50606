// The plans that a run has had, fetched before the facts that speak of them are folded.

import { get, pathOf } from "../api/http.ts";
import type { PlanDocument, RunPlan } from "../api/documents.ts";
import type { Entry } from "../fold/entry.ts";
import type { Plan, Plans } from "../fold/plan.ts";

export class Library implements Plans {
  private readonly run: string;
  private readonly revisions: Plan[] = [];
  private readonly byDigest = new Map<string, Plan>();
  private revised = 0;

  constructor(run: string) {
    this.run = run;
  }

  at(revision: number): Plan {
    return this.revisions[revision] ?? missing(`revision ${revision}`);
  }

  named(digest: string): Plan {
    return this.byDigest.get(digest) ?? missing(digest);
  }

  /** Everything that is needed to fold these facts, which follow those before. */
  async prepare(entries: readonly Entry[]): Promise<void> {
    const wanted: Promise<unknown>[] = [];
    for (const entry of entries) {
      if (entry.type === "run_started") wanted.push(this.fetchRevision(0));
      if (entry.type === "run_revised") wanted.push(this.fetchRevision((this.revised += 1)));
      const digest = entry.type === "step_entered" ? entry.body.plan : "";
      if (typeof digest === "string" && digest && !this.byDigest.has(digest)) wanted.push(this.fetchNamed(digest));
    }
    await Promise.all(wanted);
  }

  private async fetchRevision(revision: number): Promise<void> {
    if (this.revisions[revision]) return;
    const found = await get<RunPlan>(pathOf("runs", this.run, "plan"), { revision });
    this.revisions[revision] = found.plan;
  }

  private async fetchNamed(digest: string): Promise<void> {
    const found = await get<PlanDocument>(pathOf("plans", digest));
    this.byDigest.set(digest, found.plan);
  }
}

function missing(what: string): never {
  throw new Error(`the plan is not here: ${what}`);
}
