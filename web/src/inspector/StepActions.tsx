import { useState } from "react";

import { pathOf } from "../api/http.ts";
import { Failed } from "../parts/Failed.tsx";
import { EditStep } from "../plan/EditStep.tsx";
import type { Shown } from "../run/useRun.ts";
import { Ask } from "../steer/Ask.tsx";
import { Fork } from "../steer/Steer.tsx";
import { useAsking } from "../steer/useAsking.ts";

/** What can be asked about one step. */
export function StepActions({ run, step, shown }: { run: string; step: string; shown: Shown }) {
  const asking = useAsking();
  const [edits, setEdits] = useState(false);
  const state = shown.at;
  const cell = state.cells.get(step);
  const id = cell?.node.id ?? step;
  const isOfPlan = shown.state.index?.byId.has(id) ?? false;
  const isOver = shown.state.ended !== null;
  const canRetry = isOver && cell?.result?.failure != null;
  return (
    <section className="step-actions" aria-label="What can be done">
      <div className="tools">
        {canRetry && <button onClick={() => asking.mutate({ path: pathOf("runs", run, "retry"), body: { step } })}>Retry this step</button>}
        {cell?.isLive && !isOver && !shown.isPast && (
          <Ask name="Cancel this step" title={`Cancel ${step}?`} onSure={() => asking.mutate({ path: pathOf("runs", run, "cancel"), body: { step } })} grave />
        )}
        {cell !== undefined && cell.visit > 0 && <Fork state={state} step={step} />}
        {isOfPlan && !shown.isPast && (
          <button aria-expanded={edits} onClick={() => setEdits(!edits)}>
            Change the plan here
          </button>
        )}
      </div>
      <Failed error={asking.error} />
      {edits && <EditStep key={id} shown={shown} id={id} onDone={() => setEdits(false)} />}
    </section>
  );
}
