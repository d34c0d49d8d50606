import { useMemo, useState } from "react";

import type { Entry } from "../fold/entry.ts";
import { Inert } from "../parts/Inert.tsx";
import { Rows } from "../parts/Rows.tsx";
import { clock } from "../parts/times.ts";
import { sentence } from "./sentence.ts";

type Given = {
  entries: readonly Entry[];
  until: number;
  selected: string | null;
  onSelect: (step: string | null) => void;
  onLook: (seq: number) => void;
};

/** The facts of the run, in order. */
export function Log({ entries, until, selected, onSelect, onLook }: Given) {
  const [only, setOnly] = useState(false);
  const [words, setWords] = useState("");
  const size = entries.length;
  const shown = useMemo(
    () => entries.filter((each) => (!only || !selected || each.body.step === selected) && has(each, words)),
    [entries, size, only, selected, words],
  );
  const place = shown.findLastIndex((each) => each.seq <= until);
  const row = (at: number) => {
    const entry = shown[at];
    return entry && <Fact entry={entry} isSelected={entry.body.step === selected} isLater={entry.seq > until} onSelect={onSelect} onLook={onLook} />;
  };
  return (
    <section className="log" aria-label="Log">
      <div className="tools">
        <input type="search" value={words} onChange={(event) => setWords(event.target.value)} placeholder="Find in the log" aria-label="Find in the log" />
        <label>
          <input type="checkbox" checked={only} onChange={(event) => setOnly(event.target.checked)} /> only the selected step
        </label>
      </div>
      <Rows count={shown.length} height={28} label="Facts" row={row} shown={place} />
    </section>
  );
}

function has(entry: Entry, words: string): boolean {
  if (!words) return true;
  return `${entry.type} ${entry.body.step ?? ""} ${sentence(entry)}`.toLowerCase().includes(words.toLowerCase());
}

type FactGiven = { entry: Entry; isSelected: boolean; isLater: boolean; onSelect: (step: string | null) => void; onLook: (seq: number) => void };

function Fact({ entry, isSelected, isLater, onSelect, onLook }: FactGiven) {
  const kind = entry.body.failure ? "fact-bad" : "";
  return (
    <div className={`fact ${kind} ${isSelected ? "fact-selected" : ""} ${isLater ? "fact-later" : ""}`}>
      <button type="button" className="fact-seq" title="Look at the run as it stood then" onClick={() => onLook(entry.seq)}>
        {entry.seq}
      </button>
      <span className="fact-at">{clock(entry.at)}</span>
      <button type="button" className="fact-step" onClick={() => onSelect(entry.body.step || null)} disabled={!entry.body.step}>
        {entry.body.step}
      </button>
      <span className="fact-said" title={entry.type}>
        <Inert text={sentence(entry)} />
      </span>
    </div>
  );
}
