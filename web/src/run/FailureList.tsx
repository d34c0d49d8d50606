import { useQuery } from "@tanstack/react-query";

import type { Failures, Remedy } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import { Inert } from "../parts/Inert.tsx";
import { select } from "./selection.ts";

/** What failed in a run, and what was tried about it. */
export function FailureList({ run, version }: { run: string; version: number }) {
  const found = useQuery({
    queryKey: ["failures", run, version],
    queryFn: () => get<Failures>(pathOf("runs", run, "failures")),
    placeholderData: (known) => known,
  });
  if (!found.data?.failures.length) return null;
  return (
    <section aria-label="What failed">
      <h3>What failed, and what was tried</h3>
      <ul className="failures">
        {found.data.failures.map((each, place) => (
          <li key={place}>
            <button type="button" className="plain" onClick={() => select(each.step)}>
              {each.step}
            </button>
            <ol>
              {each.troubles.map((trouble, at) => (
                <li key={at}>
                  <code>{trouble.kind}</code> <Inert text={trouble.message} />
                  {trouble.remedies.length > 0 && <span className="quiet"> → {trouble.remedies.map(remedied).join(", ")}</span>}
                </li>
              ))}
            </ol>
            {each.helped && <p className="good">what helped: {each.helped}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function remedied(remedy: Remedy): string {
  const how = remedy.tool ? ` by ${remedy.tool}` : remedy.by ? ` by ${remedy.by}` : "";
  return remedy.did + how + (remedy.after ? ` after ${remedy.after} s` : "");
}
