import type { Estimate as Told, Range } from "../api/documents.ts";
import { Inert } from "../parts/Inert.tsx";
import { span } from "../parts/times.ts";

const WHOLE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const MONEY = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumSignificantDigits: 3 });
const time = (seconds: number) => span(seconds * 1000);

/** What a plan will take, what limits it, and what to do about that. */
export function Estimate({ told }: { told: Told }) {
  const limits = told.capacity.filter((each) => each.of !== EVERYTHING && each.waited > 0);
  return (
    <section aria-label="What it would take">
      <h3>What it would take</h3>
      <table className="estimate">
        <thead>
          <tr>
            <td />
            <th scope="col">half of the runs stay below</th>
            <th scope="col">nine of ten</th>
          </tr>
        </thead>
        <tbody>
          <Row name="Time, with what is waited for" range={told.elapsed} written={time} />
          <Row name="Time at work" range={told.seconds} written={time} />
          {told.waiting.p90 > 0 && <Row name="Time for people" range={told.waiting} written={time} />}
          <Row name="Tokens" range={told.tokens} written={WHOLE.format} />
          <Row name={told.unpriced ? "Money, without models of unknown price" : "Money"} range={told.usd} written={MONEY.format} />
        </tbody>
      </table>
      <p className="quiet">
        {told.guess && <b>Some of it is a guess. </b>}
        {basisOf(told)}
        {told.succeeds < 1 && ` ${WHOLE.format(told.succeeds * 100)} % of the runs succeed; the others are not counted.`}
      </p>
      {limits.length > 0 && <p>What limits it: {limits.map((each) => `${each.of} (steps wait ${time(each.waited)} for it)`).join(", ")}.</p>}
      <ul className="flaws">
        {told.budget.map((each) => (
          <li key={each.of} className={each.suffices ? "" : "error"}>
            A budget of {each.limit} {each.of} {each.suffices ? "suffices" : "does not suffice"} for nine of ten runs, who need {WHOLE.format(Math.ceil(each.p90))}.
          </li>
        ))}
        {told.advice.map((each) => (
          <li key={each}>
            <Inert text={each} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const EVERYTHING = "everything";

function Row({ name, range, written }: { name: string; range: Range; written: (amount: number) => string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{written(range.p50)}</td>
      <td>{written(range.p90)}</td>
    </tr>
  );
}

function basisOf({ basis }: Told): string {
  const { history = 0, declared = 0, guess = 0 } = basis.steps;
  return `It rests on ${basis.runs} earlier runs of this plan: ${history} steps by what they took, ${declared} by what is declared, ${guess} by a guess.`;
}
