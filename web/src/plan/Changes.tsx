import type { Change, Diff } from "../api/documents.ts";
import { Inert } from "../parts/Inert.tsx";

/** What differs between two plans, step by step. */
export function Changes({ diff }: { diff: Diff }) {
  const none = ![diff.added, diff.removed, diff.changed, diff.moved].some((each) => Object.keys(each).length) && !diff.plan.length;
  if (none) return <p className="quiet">Nothing would change.</p>;
  return (
    <ul className="changes">
      {Object.entries(diff.added).map(([step, where]) => (
        <li key={`+${step}`} className="mark-added">
          + <b>{step}</b> <span className="quiet">{where}</span>
        </li>
      ))}
      {Object.entries(diff.removed).map(([step, where]) => (
        <li key={`-${step}`} className="mark-removed">
          − <b>{step}</b> <span className="quiet">{where}</span>
        </li>
      ))}
      {Object.entries(diff.changed).map(([step, changes]) => (
        <li key={`~${step}`} className="mark-changed">
          ~ <b>{step}</b> <Fields changes={changes} />
        </li>
      ))}
      {Object.entries(diff.moved).map(([step, { before, after }]) => (
        <li key={`>${step}`} className="mark-changed">
          &gt; <b>{step}</b> from {before} to {after}
        </li>
      ))}
      {diff.plan.length > 0 && (
        <li className="mark-changed">
          ~ the plan <Fields changes={diff.plan} />
        </li>
      )}
    </ul>
  );
}

function Fields({ changes }: { changes: readonly Change[] }) {
  return changes.map((each) => (
    <span key={each.field} className="change">
      {each.field}: <del><Inert text={JSON.stringify(each.before) ?? "—"} /></del> <ins><Inert text={JSON.stringify(each.after) ?? "—"} /></ins>
    </span>
  ));
}
