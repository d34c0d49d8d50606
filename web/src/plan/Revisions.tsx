import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import type { Revisions as Every, RunPlan } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import { drawingOfPlan } from "../graph/drawing.ts";
import { Graph } from "../graph/Graph.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Inert } from "../parts/Inert.tsx";
import { moment } from "../parts/times.ts";
import { useFolds } from "../graph/useFolds.ts";
import { Changes } from "./Changes.tsx";
import { marksOf, united } from "./uniting.ts";

type Given = { run: string; last: number; selected: string | null; onSelect: (step: string | null) => void };

/** The plan at each of its revisions, and what each has changed. */
export function Revisions({ run, last, selected, onSelect }: Given) {
  const [chosen, setChosen] = useState<number | null>(null);
  const number = Math.min(chosen ?? last, last);
  const every = useQuery({ queryKey: ["revisions", run, last], queryFn: () => get<Every>(pathOf("runs", run, "revisions")) });
  const now = usePlan(run, number);
  const before = usePlan(run, Math.max(0, number - 1));
  const [folds, fold] = useFolds();
  const revision = every.data?.revisions.find((each) => each.number === number);
  const plan = useMemo(() => now.data && united(now.data.plan, number ? before.data?.plan : undefined), [now.data, before.data, number]);
  const drawing = useMemo(() => plan && drawingOfPlan(plan, folds), [plan, folds]);
  return (
    <section className="revisions" aria-label="The plan and its revisions">
      <div className="tools">
        <label>
          Revision {number} of {last}{" "}
          <input type="range" min={0} max={last} value={number} disabled={!last} onChange={(event) => setChosen(Number(event.target.value))} />
        </label>
        {revision && (
          <span className="quiet">
            {moment(revision.at)} {revision.by && `by ${revision.by}`} <Inert text={revision.why} />
          </span>
        )}
      </div>
      <Failed error={every.error ?? now.error} />
      {revision && <Changes diff={revision} />}
      {drawing && <Graph drawing={drawing} selected={selected} onSelect={onSelect} onFold={fold} marks={marksOf(revision)} />}
    </section>
  );
}

function usePlan(run: string, revision: number) {
  return useQuery({
    queryKey: ["plan", run, revision],
    queryFn: () => get<RunPlan>(pathOf("runs", run, "plan"), { revision }),
    staleTime: Infinity,
  });
}
