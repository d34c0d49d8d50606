import { useState } from "react";

import type { Begun } from "../api/documents.ts";
import { pathOf } from "../api/http.ts";
import type { State } from "../fold/state.ts";
import { signalsOf, statusOf } from "../fold/view.ts";
import { Failed } from "../parts/Failed.tsx";
import { go, runPath } from "../route.ts";
import { Ask } from "./Ask.tsx";
import { useAsking } from "./useAsking.ts";

/** What can be asked of a run as it stands. */
export function Steer({ state, interrupted }: { state: State; interrupted: boolean }) {
  const asking = useAsking();
  const [why, setWhy] = useState("");
  const [to, setTo] = useState("");
  const ask = (verb: string, body: unknown = {}) => asking.mutate({ path: pathOf("runs", state.run, verb), body });
  const status = statusOf(state);
  const isOver = state.ended !== null;
  const marks = [...state.cells.values()].filter((cell) => cell.node.step?.kind === "checkpoint" && cell.status === "over");
  const reason = (
    <label>
      Why (it stands in the journal)
      <input value={why} onChange={(event) => setWhy(event.target.value)} />
    </label>
  );
  return (
    <div className="steer">
      {!isOver && status !== "paused" && <button onClick={() => ask("pause")}>Pause</button>}
      {(status === "paused" || interrupted) && !isOver && <button onClick={() => ask("resume")}>Resume</button>}
      {isOver && status !== "succeeded" && <button onClick={() => ask("retry")}>Retry</button>}
      {!isOver && (
        <Ask name="Cancel" title="Cancel this run?" onSure={() => ask("cancel", { reason: why })} grave>
          <p>What is at work is stopped. What was done stays done.</p>
          {reason}
        </Ask>
      )}
      <Ask name="Roll back" title="Take back what this run has done?" onSure={() => ask("rollback", { to, reason: why })} grave disabled={!state.effects.size && !isOver && !marks.length}>
        <p>What can be undone is undone, the latest first.</p>
        <label>
          Back to
          <select value={to} onChange={(event) => setTo(event.target.value)}>
            <option value="">the beginning</option>
            {marks.map((cell) => (
              <option key={cell.key} value={cell.node.id}>
                {cell.node.step?.title || cell.key}
              </option>
            ))}
          </select>
        </label>
        {reason}
      </Ask>
      <Fork state={state} />
      {signalsOf(state).map((name) => (
        <button key={name} onClick={() => ask("signals", { name })}>
          Send the signal {name}
        </button>
      ))}
      <Failed error={asking.error} />
    </div>
  );
}

/** A new run that begins as this one stands where it is looked at. */
export function Fork({ state, step }: { state: State; step?: string }) {
  const asking = useAsking<Begun>((begun) => go(runPath(begun.id)));
  const body = step ? { step } : { at: state.seq };
  return (
    <>
      <button title="A new run with the facts of this one until here" disabled={!state.seq || asking.isPending} onClick={() => asking.mutate({ path: pathOf("runs", state.run, "fork"), body })}>
        {step ? "Fork before this step" : "Fork from here"}
      </button>
      <Failed error={asking.error} />
    </>
  );
}
