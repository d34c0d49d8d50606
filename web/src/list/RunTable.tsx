import type { Listed } from "../api/documents.ts";
import { Link } from "../parts/Link.tsx";
import { Status } from "../parts/Status.tsx";
import { age, moment, span } from "../parts/times.ts";
import { useNow } from "../parts/useNow.ts";
import { runPath } from "../route.ts";

/** Runs, one in a row. Where there is little room, a row is put into lines. */
export function RunTable({ runs }: { runs: readonly Listed[] }) {
  const now = useNow(true);
  return (
    <table className="runs" aria-label="Runs">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Goal</th>
          <th scope="col">Questions</th>
          <th scope="col">Begun</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row key={run.id} run={run} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run, now }: { run: Listed; now: number }) {
  const began = Date.parse(run.created ?? "");
  const took = (run.over ? Date.parse(run.updated ?? "") : now) - began;
  return (
    <tr className="run-row">
      <td>
        <Status status={run.interrupted ? "interrupted" : run.status} />
      </td>
      <td className="run-goal">
        <Link to={runPath(run.id)} className="run-link">
          {run.goal || "no goal"}
        </Link>
        <span className="run-about">
          {run.id} · {run.entries} facts
          {run.fork && ` · fork of ${run.fork.of}`}
          {run.session && ` · session ${run.session}`}
        </span>
      </td>
      <td>
        {run.questions > 0 && (
          <Link to={runPath(run.id)} className="asks" label={`Questions of this run: ${run.questions}`}>
            {run.questions}
          </Link>
        )}
      </td>
      <td className="run-time" title={moment(run.created)}>
        {age(now - began)}
      </td>
      <td className="run-time">{span(took)}</td>
    </tr>
  );
}
