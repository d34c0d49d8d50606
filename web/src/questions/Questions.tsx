import { Failed } from "../parts/Failed.tsx";
import { useTurns } from "../list/useTurns.ts";
import { QuestionCard } from "./QuestionCard.tsx";
import { useQuestions } from "./useQuestions.ts";

/** Everything that people are asked, in all runs. */
export function Questions() {
  const version = useTurns();
  const found = useQuestions(undefined, version);
  return (
    <main className="narrow">
      <h1>Questions</h1>
      <Failed error={found.error} />
      {found.data?.questions.length === 0 && <p className="quiet">Nobody is asked anything.</p>}
      {found.data?.questions.map((each) => (
        <QuestionCard key={`${each.run} ${each.id}`} question={each} withRun />
      ))}
    </main>
  );
}
