import { useMemo } from "react";

import type { Entry } from "../fold/entry.ts";
import { Rows } from "../parts/Rows.tsx";
import { clock, span } from "../parts/times.ts";
import { useNow } from "../parts/useNow.ts";
import { type Attempt, type Visit, visitsIn } from "./visits.ts";

type Given = {
  entries: readonly Entry[];
  until: number;
  isOver: boolean;
  isPast: boolean;
  selected: string | null;
  onSelect: (step: string) => void;
};

const ROW = 30;

/** What was at work when: a row for each visit of a step, and in it a bar for each try. */
export function Timeline({ entries, until, isOver, isPast, selected, onSelect }: Given) {
  const size = entries.length; // facts are only added, to the same list
  const visits = useMemo(() => visitsIn(entries, until), [entries, until, size]);
  const last = entries[Math.min(until, size) - 1]?.at ?? 0;
  const now = useNow(!isOver && !isPast);
  const from = entries[0]?.at ?? 0;
  const to = Math.max(isOver || isPast ? last : now, from + 1);
  if (!visits.length) return <p className="quiet">Nothing has begun yet.</p>;
  const row = (place: number) => {
    const visit = visits[place];
    return visit && <Bar visit={visit} from={from} to={to} isSelected={visit.step === selected} onSelect={onSelect} />;
  };
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="timeline-scale" aria-hidden="true">
        <span>{clock(from)}</span>
        <span>{span(to - from)}</span>
        <span>{clock(to)}</span>
      </div>
      <Rows count={visits.length} height={ROW} label="Visits of steps" row={row} shown={visits.findIndex((each) => each.step === selected)} />
    </section>
  );
}

function Bar({ visit, from, to, isSelected, onSelect }: { visit: Visit; from: number; to: number; isSelected: boolean; onSelect: (step: string) => void }) {
  const end = visit.to ?? to;
  const name = visit.visit > 1 ? `${visit.step} · ${visit.visit}` : visit.step;
  const said = `${name}: ${visit.exit || "at work"}, ${span(end - visit.from)}`;
  return (
    <button type="button" className={`bar ${isSelected ? "bar-selected" : ""}`} aria-label={said} aria-pressed={isSelected} onClick={() => onSelect(visit.step)}>
      <span className="bar-name" title={visit.step}>
        {name}
      </span>
      <span className="bar-room">
        <Stretch start={visit.from} end={end} from={from} to={to} kind={`visit-${visit.exit || "active"}`} said={said} />
        {visit.attempts.map((each, place) => (
          <Stretch key={place} start={each.from} end={each.to ?? end} from={from} to={to} kind={kindOf(each)} said={`try ${each.number}`} />
        ))}
      </span>
      <span className="bar-took">{span(end - visit.from)}</span>
    </button>
  );
}

function kindOf(attempt: Attempt): string {
  return `try-${attempt.deed === "do" ? attempt.exit || "active" : attempt.deed}`;
}

function Stretch({ start, end, from, to, kind, said }: { start: number; end: number; from: number; to: number; kind: string; said: string }) {
  const left = ((start - from) / (to - from)) * 100;
  const width = ((end - start) / (to - from)) * 100;
  return <span className={`stretch ${kind}`} title={said} style={{ left: `${left}%`, width: `max(3px, ${width}%)` }} />;
}
