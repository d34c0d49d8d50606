import { useMemo } from "react";

import { outputOf, stepView } from "../fold/view.ts";
import type { Step } from "../fold/plan.ts";
import { stateOf } from "../graph/standing.ts";
import { Allowed } from "../parts/Allowed.tsx";
import { Inert } from "../parts/Inert.tsx";
import { Status } from "../parts/Status.tsx";
import { moment, span } from "../parts/times.ts";
import { select } from "../run/selection.ts";
import type { Shown } from "../run/useRun.ts";
import { Json } from "./Json.tsx";
import { Output } from "./Output.tsx";
import { StepActions } from "./StepActions.tsx";
import { triesAt } from "./tries.ts";
import { Tries } from "./Tries.tsx";

/** Everything that is known of one step. */
export function Inspector({ run, step, shown }: { run: string; step: string; shown: Shown }) {
  const { at: state, entries, version } = shown;
  const tries = useMemo(() => triesAt(entries, state.seq, step), [entries, state.seq, step, version]);
  const cell = state.cells.get(step) ?? null;
  const written = cell?.node.step ?? state.index?.byId.get(step)?.step ?? null;
  const seen = cell ? stepView(cell) : null;
  return (
    <aside className="inspector" aria-label={`Step ${step}`}>
      <header>
        <h2>{step}</h2>
        <button type="button" aria-label="Close" onClick={() => select(null)}>
          ×
        </button>
      </header>
      <p>
        <Status status={stateOf(cell).state} /> <span className="quiet">{written?.kind}</span>{" "}
        {seen?.began && (
          <span className="quiet" title={moment(seen.began)}>
            {seen.ended ? `took ${span(seen.ended - seen.began)}` : `since ${moment(seen.began)}`}
          </span>
        )}
      </p>
      {written?.title && (
        <p>
          <Inert text={written.title} />
        </p>
      )}
      {seen?.failure && (
        <section className="failure" aria-label="Failure">
          <h3>Why it failed</h3>
          <p>
            <code>{seen.failure.kind}</code> <Inert text={seen.failure.message} />
          </p>
          {seen.failure.detail != null && <Json value={seen.failure.detail} label="Details of the failure" />}
        </section>
      )}
      <Allowed scope="run">
        <StepActions run={run} step={step} shown={shown} />
      </Allowed>
      <Tries tries={tries} />
      {cell?.result && (
        <section aria-label="Output">
          <h3>Output</h3>
          <Output run={run} step={step} seq={state.seq} value={outputOf(cell)} />
        </section>
      )}
      {written && (
        <section aria-label="As it stands in the plan">
          <h3>In the plan</h3>
          <Json value={asJson(written)} label="The step in the plan" />
        </section>
      )}
    </aside>
  );
}

/** The step without those inside it, which have boxes of their own. */
function asJson(step: Step) {
  const { steps, ...own } = step;
  return { ...own, ...(steps ? { steps: steps.map((each) => each.id) } : {}) } as never;
}
