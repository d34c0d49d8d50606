import { useMutation, useQuery } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";

import type { Begun, Checks, Estimate as Taken } from "../api/documents.ts";
import { post } from "../api/http.ts";
import { nonce } from "../api/nonce.ts";
import type { Json as Value } from "../fold/entry.ts";
import { Json } from "../inspector/Json.tsx";
import { Allowed } from "../parts/Allowed.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Flaws } from "../parts/Flaws.tsx";
import { useCalm } from "../parts/useCalm.ts";
import { Estimate } from "./Estimate.tsx";

type Given = { text: string; onText: (text: string) => void; onBegun: (run: string) => void };

const PAUSE = 350;
const LARGEST = 4_000_000;

/** A plan as a text. What is wrong with it is told while somebody writes. */
export function FromText({ text, onText, onBegun }: Given) {
  const [inputs, setInputs] = useState("{}");
  const [session, setSession] = useState("");
  const settled = useCalm(text, PAUSE);
  const checked = useQuery({
    queryKey: ["check", settled],
    queryFn: () => post<Checks>("/v1/plans/check", { text: settled }),
    enabled: settled.trim() !== "",
  });
  const given = readInputs(inputs);
  const body = { text, inputs: given ?? {} };
  const trial = useMutation({ mutationFn: () => post<Value>("/v1/plans/rehearse", body) });
  const estimate = useMutation({ mutationFn: () => post<Taken>("/v1/plans/estimate", body) });
  const start = useMutation({
    mutationFn: () => post<Begun>("/v1/runs", { ...body, ...(session ? { session } : {}) }, { "Idempotency-Key": nonce() }),
    onSuccess: (begun) => onBegun(begun.id),
  });
  const found = checked.data?.plans[0];
  const isReady = found?.ok === true && settled === text && given !== null;
  return (
    <section className="start">
      <label>
        A file of YAML or JSON <input type="file" accept=".yaml,.yml,.json" onChange={(event) => void readFile(event, onText)} />
      </label>
      <textarea value={text} onChange={(event) => onText(event.target.value)} rows={18} spellCheck={false} placeholder={EXAMPLE} aria-label="The plan" aria-invalid={found?.ok === false} />
      <div aria-live="polite">
        <Failed error={checked.error} />
        {found && <Flaws flaws={found.problems} />}
        {found?.ok && settled === text && <p className="good">The plan can be carried out.</p>}
      </div>
      <label>
        Inputs, as JSON <textarea value={inputs} onChange={(event) => setInputs(event.target.value)} rows={3} spellCheck={false} aria-invalid={given === null} />
      </label>
      <label>
        Session <input value={session} onChange={(event) => setSession(event.target.value)} />
      </label>
      <div className="tools">
        <button
          type="button"
          disabled={!isReady || trial.isPending || estimate.isPending}
          onClick={() => {
            trial.mutate();
            estimate.mutate();
          }}
        >
          Dry run
        </button>
        <Allowed scope="run" what="Starting a run">
          <button type="button" className="main" disabled={!isReady || start.isPending} onClick={() => start.mutate()}>
            Start
          </button>
        </Allowed>
      </div>
      <Failed error={trial.error ?? estimate.error ?? start.error} />
      {estimate.data && <Estimate told={estimate.data} />}
      {trial.data !== undefined && (
        <section aria-label="What it would do">
          <h3>What it would do</h3>
          <Json value={trial.data} label="What it would do" />
        </section>
      )}
    </section>
  );
}

const EXAMPLE = 'goal: Count the words of a text\nsteps:\n  - id: words\n    tool: text.replace\n    with: { text: "one two", pattern: "[^ ]+", by: "w" }';

function readInputs(text: string): { [name: string]: Value } | null {
  try {
    const found: unknown = JSON.parse(text || "{}");
    return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as { [name: string]: Value }) : null;
  } catch {
    return null;
  }
}

async function readFile(event: ChangeEvent<HTMLInputElement>, onText: (text: string) => void): Promise<void> {
  const file = event.target.files?.[0];
  if (file && file.size <= LARGEST) onText(await file.text());
}
