import { useQuery } from "@tanstack/react-query";

import type { Progress as Told } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import { soon } from "../parts/times.ts";
import { useCalm } from "../parts/useCalm.ts";

/** Milliseconds between two looks: after facts, and where nothing happens. The server simulates runs for each of them. */
const PAUSE = 4_000;
const SILENCE = 20_000;

/** How far a run is that goes on, and when it will be over, as far as the server can say so. */
export function Progress({ run, seq }: { run: string; seq: number }) {
  const found = useQuery({
    queryKey: ["progress", run, useCalm(seq, PAUSE)],
    queryFn: () => get<Told>(pathOf("runs", run, "progress")),
    refetchInterval: SILENCE,
    placeholderData: (known) => known,
  });
  const { fraction, over, guess, waits } = found.data ?? {};
  if (fraction === undefined) return null;
  const percent = `${Math.floor(fraction * 100)} %`;
  return (
    <section aria-label="Progress">
      <h3>Progress</h3>
      <progress value={fraction} max={1} aria-label={percent} />
      <p>
        {percent}
        {over && `, over at ${soon(over.p50)}, by ${soon(over.p90)} at the latest in nine of ten cases`}
      </p>
      {guess && <p className="quiet">This is a guess: nobody knows yet what some of the steps take.</p>}
      {waits ? (
        <p className="quiet">
          It waits for {waits === 1 ? "an answer" : `${waits} answers`} of people. How long they take is foreseen from earlier answers only.
        </p>
      ) : null}
    </section>
  );
}
