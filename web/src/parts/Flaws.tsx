import type { Flaw } from "../api/documents.ts";

/** Everything that is wrong with a plan, or with edits of it. */
export function Flaws({ flaws }: { flaws: readonly Flaw[] }) {
  if (!flaws.length) return null;
  return (
    <ul className="flaws">
      {flaws.map((flaw, place) => (
        <li key={place} className={flaw.severity === "warning" ? "warning" : "error"}>
          {flaw.code && <code>{flaw.code}</code>} {whereOf(flaw)} {flaw.message}
          {flaw.hint && <span className="help"> {flaw.hint}</span>}
        </li>
      ))}
    </ul>
  );
}

function whereOf(flaw: Flaw): string {
  if (flaw.line) return `line ${flaw.line}${flaw.column ? `:${flaw.column}` : ""}:`;
  return flaw.path && `${flaw.path}:`;
}
