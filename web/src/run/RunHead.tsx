import type { RunDocument } from "../api/documents.ts";
import { statusOf, usageOf } from "../fold/view.ts";
import { Allowed } from "../parts/Allowed.tsx";
import { Inert } from "../parts/Inert.tsx";
import { Link } from "../parts/Link.tsx";
import { Status } from "../parts/Status.tsx";
import { span } from "../parts/times.ts";
import { useNow } from "../parts/useNow.ts";
import { runPath } from "../route.ts";
import { Steer } from "../steer/Steer.tsx";
import type { Shown } from "./useRun.ts";

/** What a run is for, how it stands, and what can be asked of it. */
export function RunHead({ shown, document }: { shown: Shown; document: RunDocument | undefined }) {
  const state = shown.at;
  const usage = usageOf(state);
  const isOver = state.ended !== null;
  const now = useNow(!isOver && !shown.isPast);
  const took = isOver || shown.isPast ? usage.seconds * 1000 : now - (state.root?.at ?? now);
  const interrupted = document?.interrupted === true && !shown.isPast;
  return (
    <header className="run-head">
      <div>
        <h1>{state.goal ? <Inert text={state.goal} /> : state.run}</h1>
        <p className="run-facts">
          <Status status={interrupted ? "interrupted" : statusOf(state)} /> <code>{state.run}</code> · {span(took)} · {usage.steps} steps · {usage.attempts} tries
          {usage.tokens > 0 && ` · ${usage.tokens} tokens`}
          {usage.usd > 0 && ` · ${usage.usd.toFixed(4)} USD`}
          {state.revision > 0 && ` · revision ${state.revision}`}
          {state.fork && (
            <>
              {" · "}
              <Link to={runPath(state.fork.of, { at: String(state.fork.seq) })}>fork of {state.fork.of}</Link>
            </>
          )}
          {shown.isPast && <b className="past"> · as it stood after {state.seq} facts</b>}
          {!shown.isLive && !isOver && <b className="offline"> · not connected</b>}
        </p>
        {state.ended?.failure && (
          <p className="failed" role="status">
            <code>{state.ended.failure.kind}</code> <Inert text={state.ended.failure.message} />{" "}
            {state.ended.cause && <Link to={runPath(state.run, { step: state.ended.cause })}>in {state.ended.cause}</Link>}
          </p>
        )}
        {document?.unplanned && <p className="quiet">Without a plan: {document.unplanned}</p>}
      </div>
      <Allowed scope="run" what="Steering a run">
        <Steer state={shown.isPast ? state : shown.state} interrupted={interrupted} />
      </Allowed>
    </header>
  );
}
