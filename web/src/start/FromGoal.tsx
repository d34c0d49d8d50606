import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Planned, Templates } from "../api/documents.ts";
import { get, post } from "../api/http.ts";
import { Failed } from "../parts/Failed.tsx";

/** A goal becomes a plan, which is looked at before anything is done. */
export function FromGoal({ onPlan }: { onPlan: (text: string) => void }) {
  const [goal, setGoal] = useState("");
  const [template, setTemplate] = useState("");
  const templates = useQuery({ queryKey: ["templates"], queryFn: () => get<Templates>("/v1/templates") });
  const making = useMutation({
    mutationFn: () => post<Planned>("/v1/plans/make", { goal, ...(template ? { template } : {}) }),
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
            <option key={each.name} value={each.name} title={each.about}>
              {each.name}
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
