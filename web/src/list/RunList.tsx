import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import type { Runs } from "../api/documents.ts";
import { get } from "../api/http.ts";
import { Allowed } from "../parts/Allowed.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Link } from "../parts/Link.tsx";
import { say, usePlace } from "../route.ts";
import { RunTable } from "./RunTable.tsx";
import { useTurns } from "./useTurns.ts";

const STATUSES = ["running", "waiting", "paused", "stopping", "interrupted", "succeeded", "failed", "cancelled", "rolled_back"];

/** Runs, newest first, as they go on. */
export function RunList() {
  const words = usePlace().searchParams;
  const [q, status] = [words.get("q") ?? "", words.get("status") ?? ""];
  const version = useTurns();
  const known = useQueryClient();
  useEffect(() => void known.invalidateQueries({ queryKey: ["runs"] }), [known, version]);
  const found = useInfiniteQuery({
    queryKey: ["runs", q, status],
    queryFn: ({ pageParam }) => get<Runs>("/v1/runs", { q, status, before: pageParam, limit: 50 }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <main>
      <div className="tools">
        <h1>Runs</h1>
        <input type="search" value={q} onChange={(event) => say({ q: event.target.value })} placeholder="Find by goal" aria-label="Find runs by goal" />
        <select value={status} onChange={(event) => say({ status: event.target.value })} aria-label="Only runs with this status">
          <option value="">any status</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {each.replace("_", " ")}
            </option>
          ))}
        </select>
        <Allowed scope="run">
          <Link to="/new" className="button main">
            Start a run
          </Link>
        </Allowed>
      </div>
      <Failed error={found.error} />
      {!found.isPending && !runs.length && <p className="quiet">There are no {q || status ? "such " : ""}runs.</p>}
      {runs.length > 0 && <RunTable runs={runs} />}
      {found.hasNextPage && (
        <button type="button" onClick={() => void found.fetchNextPage()} disabled={found.isFetching}>
          Older runs
        </button>
      )}
    </main>
  );
}
