import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { get, post } from "../api/http.ts";
import type { Plan } from "../fold/plan.ts";
import { Failed } from "../parts/Failed.tsx";

type Template = { name: string; title?: string; about?: string };

/** A goal becomes a plan, which is looked at before anything is done. */
export function FromGoal({ onPlan }: { onPlan: (text: string) => void }) {
  const [goal, setGoal] = useState("");
  const [template, setTemplate] = useState("");
  const templates = useQuery({ queryKey: ["templates"], queryFn: () => get<{ templates: Template[] }>("/v1/templates") });
  const making = useMutation({
    mutationFn: () => post<{ plan: Plan }>("/v1/plans/make", { goal, ...(template ? { template } : {}) }),
    onSuccess: (made) => onPlan(JSON.stringify(made.plan, null, 2)),
  });
  return (
    <form
      className="start"
      onSubmit={(event) => {
        event.preventDefault();
        making.mutate();
      }}
    >
      <label>
        What is to be achieved <textarea value={goal} onChange={(event) => setGoal(event.target.value)} rows={4} required />
      </label>
      <label>
        Template
        <select value={template} onChange={(event) => setTemplate(event.target.value)}>
          <option value="">whichever fits</option>
          {templates.data?.templates.map((each) => (
            <option key={each.name} value={each.name}>
              {each.title || each.name}
            </option>
          ))}
        </select>
      </label>
      <Failed error={templates.error ?? making.error} />
      <button type="submit" className="main" disabled={making.isPending || !goal.trim()}>
        {making.isPending ? "Planning …" : "Make a plan"}
      </button>
    </form>
  );
}
