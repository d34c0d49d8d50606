import type { RunDocument } from "../api/documents.ts";
import { Json } from "../inspector/Json.tsx";
import { useCalm } from "../parts/useCalm.ts";
import { QuestionCard } from "../questions/QuestionCard.tsx";
import { useQuestions } from "../questions/useQuestions.ts";
import { Budgets } from "./Budgets.tsx";
import { FailureList } from "./FailureList.tsx";
import { Progress } from "./Progress.tsx";
import type { Shown } from "./useRun.ts";

/** What there is to know of a run as a whole: what it asks, how far it is, what failed, what it gave. */
export function RunSide({ shown, document }: { shown: Shown; document: RunDocument | undefined }) {
  const { at: state } = shown;
  const calm = useCalm(state.seq, PAUSE);
  const asks = !shown.isPast && state.questions.size > 0;
  const failed = state.ended?.failure != null || [...state.cells.values()].some((cell) => cell.result?.failure);
  return (
    <aside className="inspector" aria-label="The run as a whole">
      {asks && <Asked run={state.run} key={[...state.questions.keys()].join()} />}
      {!shown.isPast && state.root && !state.ended && <Progress run={state.run} seq={state.seq} />}
      <Budgets budgets={document?.usage.budgets ?? {}} />
      {failed && <FailureList run={state.run} version={calm} />}
      {state.ended?.status === "succeeded" && document && (
        <section aria-label="Output of the run">
          <h3>Output</h3>
          <Json value={document.output} label="Output of the run" />
        </section>
      )}
      {state.inputs?.data != null && Object.keys(state.inputs.data).length > 0 && (
        <section aria-label="Inputs">
          <h3>Inputs</h3>
          <Json value={state.inputs.data} label="Inputs" />
        </section>
      )}
    </aside>
  );
}

const PAUSE = 1_500;

function Asked({ run }: { run: string }) {
  const found = useQuestions(run);
  return found.data?.questions.map((each) => <QuestionCard key={each.id} question={each} />);
}
