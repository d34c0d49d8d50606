import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { RunDocument } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import { drawingOf } from "../graph/drawing.ts";
import { Graph } from "../graph/Graph.tsx";
import { shownBy } from "../graph/unfolding.ts";
import { useFolds } from "../graph/useFolds.ts";
import { Inspector } from "../inspector/Inspector.tsx";
import { Log } from "../log/Log.tsx";
import { Failed } from "../parts/Failed.tsx";
import { useCalm } from "../parts/useCalm.ts";
import { Revisions } from "../plan/Revisions.tsx";
import { Timeline } from "../timeline/Timeline.tsx";
import { RunHead } from "./RunHead.tsx";
import { RunSide } from "./RunSide.tsx";
import { Scrubber } from "./Scrubber.tsx";
import { lookAt, select, type Selection, useSelection } from "./selection.ts";
import { Tabs } from "./Tabs.tsx";
import { type Shown, useRun } from "./useRun.ts";

/** One run: its graph, timeline, log and plan, with one selection for all of them. */
export function RunPage({ run }: { run: string }) {
  const selection = useSelection();
  const shown = useRun(run, selection.at);
  const last = shown.entries.length;
  const calm = useCalm(last, PAUSE);
  const document = useQuery({
    queryKey: ["run", run, shown.isPast ? shown.at.seq : calm],
    queryFn: () => get<RunDocument>(pathOf("runs", run), shown.isPast ? { at: shown.at.seq } : {}),
    enabled: calm > 0,
    placeholderData: (known) => known,
  });
  if (!shown.isLoaded || (shown.error && !last)) {
    return <main>{shown.error ? <Failed error={shown.error} /> : <p className="quiet">The journal is being read …</p>}</main>;
  }
  return (
    <main className="run">
      <RunHead shown={shown} document={document.data} />
      <Failed error={shown.error} />
      <Scrubber entries={shown.entries} at={selection.at} />
      <div className="run-body">
        <div className="run-views">
          <Tabs tab={selection.tab} />
          <View shown={shown} selection={selection} />
        </div>
        {selection.step !== null ? <Inspector run={run} step={selection.step} shown={shown} /> : <RunSide shown={shown} document={document.data} />}
      </div>
    </main>
  );
}

/** Milliseconds between two looks at what the facts alone do not say. */
const PAUSE = 1_500;

function View({ shown, selection }: { shown: Shown; selection: Selection }) {
  const { at: state, entries } = shown;
  const { step, tab } = selection;
  if (tab === "timeline") {
    return <Timeline entries={entries} until={state.seq} isOver={state.ended !== null} isPast={shown.isPast} selected={step} onSelect={select} />;
  }
  if (tab === "log") return <Log entries={entries} until={state.seq} selected={step} onSelect={select} onLook={lookAt} />;
  if (tab === "plan") return <Revisions run={state.run} last={shown.state.revision} selected={step} onSelect={select} />;
  return <RunGraph shown={shown} step={step} />;
}

function RunGraph({ shown, step }: { shown: Shown; step: string | null }) {
  const { at: state, version } = shown;
  const [folds, fold] = useFolds();
  const drawing = useMemo(() => drawingOf(state, shownBy(folds, state, step)), [state, state.seq, version, folds, step]);
  return <Graph drawing={drawing} selected={step} onSelect={select} onFold={fold} />;
}
