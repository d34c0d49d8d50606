import { Refused, saidOf } from "../api/problem.ts";
import { Flaws } from "./Flaws.tsx";

/** What went wrong, and what to do about it. */
export function Failed({ error }: { error: unknown }) {
  if (!error) return null;
  const refused = error instanceof Refused ? error : null;
  return (
    <div className="failed" role="alert">
      <p>
        {refused?.code && <code>{refused.code}</code>} {saidOf(error)}
      </p>
      {refused?.help && <p className="help">{refused.help}</p>}
      {refused && <Flaws flaws={refused.flaws} />}
    </div>
  );
}
