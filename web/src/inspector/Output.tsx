import { useQuery } from "@tanstack/react-query";

import type { RunDocument } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import type { Value } from "../fold/entry.ts";
import { Failed } from "../parts/Failed.tsx";
import { Json } from "./Json.tsx";

type Given = { run: string; step: string; seq: number; value: Value | undefined };

/** What a step gave. What follows from the steps inside a group is asked for, as is what is kept apart. */
export function Output({ run, step, seq, value }: Given) {
  if (value === undefined) return <OfGroup run={run} step={step} seq={seq} />;
  if (value.sha256) return <Kept digest={value.sha256} />;
  return <Json value={value.data} label="Output" />;
}

function OfGroup({ run, step, seq }: { run: string; step: string; seq: number }) {
  const found = useQuery({
    queryKey: ["run", run, seq],
    queryFn: () => get<RunDocument>(pathOf("runs", run), { at: seq || undefined }),
  });
  if (found.error) return <Failed error={found.error} />;
  if (found.isPending) return <p className="quiet">…</p>;
  return <Json value={step ? found.data.steps[step]?.output : found.data.output} label="Output" />;
}

function Kept({ digest }: { digest: string }) {
  const found = useQuery({ queryKey: ["artifact", digest], queryFn: () => get<never>(pathOf("artifacts", digest)), staleTime: Infinity });
  if (found.error) return <Failed error={found.error} />;
  return (
    <>
      <p className="quiet">
        kept as <code>{digest.slice(0, 12)}</code>
      </p>
      {found.isPending ? <p className="quiet">…</p> : <Json value={found.data} label="Output" />}
    </>
  );
}
