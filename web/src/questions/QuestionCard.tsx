import type { Question } from "../api/documents.ts";
import { Inert } from "../parts/Inert.tsx";
import { Link } from "../parts/Link.tsx";
import { moment } from "../parts/times.ts";
import { runPath } from "../route.ts";
import { AnswerForm } from "./AnswerForm.tsx";

const ABOUT: { readonly [about: string]: string } = {
  plan: "the plan asks",
  doubt: "nobody knows whether it was done",
  policy: "a rule wants it",
  budget: "a budget is used up",
  recovery: "it failed, and somebody has to say how to go on",
};

/** A question: what is asked and why, what follows from each answer, and from none. */
export function QuestionCard({ question, withRun }: { question: Question; withRun?: boolean }) {
  const { after } = question;
  return (
    <article className="question" aria-label={`Question of ${question.step}`}>
      <header>
        <Link to={runPath(question.run, { step: question.step })}>{withRun ? `${question.run} · ${question.step}` : question.step}</Link>{" "}
        <span className="quiet">
          {ABOUT[question.about] ?? question.about}, {moment(question.asked)}
        </span>
      </header>
      <p className="question-text">
        <Inert text={question.text} />
      </p>
      {after && (
        <p className="why">
          after a failure: <Inert text={Object.values(after).filter((each) => typeof each === "string").join(": ")} />
        </p>
      )}
      {question.people.length > 0 && <p className="quiet">for {question.people.join(", ")}</p>}
      {question.status === "open" ? (
        <>
          <AnswerForm question={question} />
          {question.until && (
            <p className="quiet">
              until {moment(question.until)}
              {question.silence && `; then: ${question.silence}`}
            </p>
          )}
        </>
      ) : (
        <p>
          {question.status} {question.by && `by ${question.by}`}: <Inert text={JSON.stringify(question.value) ?? ""} />
        </p>
      )}
    </article>
  );
}
