import type { Entry } from "../fold/entry.ts";
import { sentence } from "../log/sentence.ts";
import { moment } from "../parts/times.ts";
import { lookAt } from "./selection.ts";

/** Goes through the past of a run. At the right end it is looked at as it stands now. */
export function Scrubber({ entries, at }: { entries: readonly Entry[]; at: number | null }) {
  const last = entries.length;
  const here = Math.min(at ?? last, last);
  const entry = entries[here - 1];
  return (
    <div className="scrubber">
      <button type="button" aria-label="One fact back" disabled={here <= 1} onClick={() => lookAt(here - 1)}>
        ◂
      </button>
      <input
        type="range"
        min={1}
        max={Math.max(1, last)}
        value={here}
        aria-label="The run after so many facts"
        aria-valuetext={entry ? `${here} of ${last}: ${entry.body.step ?? ""} ${sentence(entry)}` : ""}
        onChange={(event) => {
          const seq = Number(event.target.value);
          lookAt(seq >= last ? null : seq);
        }}
      />
      <button type="button" aria-label="One fact on" disabled={at === null} onClick={() => lookAt(here + 1 >= last ? null : here + 1)}>
        ▸
      </button>
      <span className="scrubber-said">
        {here}/{last} {entry && <span className="quiet">{moment(entry.at)}</span>}
      </span>
      {at !== null && (
        <button type="button" className="main" onClick={() => lookAt(null)}>
          Now
        </button>
      )}
    </div>
  );
}
