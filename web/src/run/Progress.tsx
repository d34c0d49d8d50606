import { useQuery } from "@tanstack/react-query";

import { get, pathOf } from "../api/http.ts";
import { Refused } from "../api/problem.ts";
import { moment } from "../parts/times.ts";

type Told = { fraction?: number | null; eta?: string | null; remaining?: number | null; message?: string | null };

type Given = { run: string; told: unknown; version: number; isOver: boolean };

/** How far a run is, where the server can say so. */
export function Progress({ run, told, version, isOver }: Given) {
  const found = useQuery({
    queryKey: ["progress", run, version],
    queryFn: () => get<Told>(pathOf("runs", run, "progress")),
    enabled: !isOver,
    placeholderData: (known) => known,
    retry: (count, error) => count < 1 && !(error instanceof Refused),
  });
  const seen = (told as Told | null) ?? found.data;
  if (isOver || typeof seen?.fraction !== "number") return null;
  const percent = Math.round(seen.fraction * 100);
  return (
    <section aria-label="Progress">
      <h3>Progress</h3>
      <progress value={seen.fraction} max={1} aria-label={`${percent} %`} />
      <p className="quiet">
        {percent} %{seen.eta && `, expected to be over ${moment(seen.eta)}`}
      </p>
    </section>
  );
}
