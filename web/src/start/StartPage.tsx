import { useState } from "react";

import { Allowed } from "../parts/Allowed.tsx";
import { go, runPath } from "../route.ts";
import { FromGoal } from "./FromGoal.tsx";
import { FromText } from "./FromText.tsx";

/** Start a run: from a plan, or from a goal. What it would do is seen first. */
export function StartPage() {
  const [text, setText] = useState("");
  const [way, setWay] = useState<"plan" | "goal">("plan");
  const begun = (run: string) => go(runPath(run));
  return (
    <main className="narrow">
      <h1>Start a run</h1>
      <div className="tabs" role="group" aria-label="From what">
        <button type="button" aria-pressed={way === "plan"} onClick={() => setWay("plan")}>
          A plan
        </button>
        <button type="button" aria-pressed={way === "goal"} onClick={() => setWay("goal")}>
          A goal
        </button>
      </div>
      {way === "goal" && (
        <Allowed scope="run" what="Making a plan for a goal">
          <FromGoal
            onPlan={(plan) => {
              setText(plan);
              setWay("plan");
            }}
          />
        </Allowed>
      )}
      {way === "plan" && <FromText text={text} onText={setText} onBegun={begun} />}
    </main>
  );
}
