import type { Json as Value } from "../fold/entry.ts";
import { Diff, isDiff } from "./Diff.tsx";
import { Inert } from "../parts/Inert.tsx";

/** A value, as it is. Texts are shown as texts, and what differs between files as that. */
export function Json({ value, label }: { value: Value | undefined; label?: string }) {
  if (value === undefined || value === null) return <p className="quiet">nothing</p>;
  if (typeof value === "string" && isDiff(value)) return <Diff text={value} />;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const cut = text.length > MOST;
  return (
    <>
      <pre className="value" tabIndex={0} aria-label={label}>
        <Inert text={cut ? text.slice(0, MOST) : text} />
      </pre>
      {cut && <p className="quiet">… and {text.length - MOST} more characters</p>}
      {diffsIn(value).map((each, place) => (
        <Diff key={place} text={each} />
      ))}
    </>
  );
}

const MOST = 20_000;

function diffsIn(value: Value): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.values(value).filter((each): each is string => typeof each === "string" && isDiff(each));
}
