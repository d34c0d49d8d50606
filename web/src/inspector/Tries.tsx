import { Inert } from "../parts/Inert.tsx";
import { Status } from "../parts/Status.tsx";
import { moment, span } from "../parts/times.ts";
import { total, type Try } from "./tries.ts";

/** What was tried, how it went, what it took, and what followed. */
export function Tries({ tries }: { tries: readonly Try[] }) {
  if (!tries.length) return null;
  const { tokens, calls, usd } = total(tries);
  return (
    <section aria-label="Tries">
      <h3>Tries</h3>
      <ol className="tries">
        {tries.map((each, place) => (
          <li key={place}>
            <p>
              <Status status={each.exit || "active"} />{" "}
              <span title={moment(each.from)}>
                {each.visit > 1 && `visit ${each.visit}, `}
                {each.deed === "do" ? "try" : each.deed} {each.number}
              </span>{" "}
              {each.to !== null && <span className="quiet">{span(each.to - each.from)}</span>}
            </p>
            {each.failure && (
              <p className="why">
                <code>{each.failure.kind}</code> <Inert text={each.failure.message} />
              </p>
            )}
            {each.then.length > 0 && <p className="quiet">then: {each.then.join(", ")}</p>}
          </li>
        ))}
      </ol>
      {(tokens > 0 || calls > 0 || usd !== null) && (
        <p className="quiet">
          {tokens} tokens in {calls} calls{usd !== null && `, ${usd.toFixed(4)} USD`}
        </p>
      )}
    </section>
  );
}
