import { useQuery } from "@tanstack/react-query";

import type { Questions } from "../api/documents.ts";
import { get } from "../api/http.ts";

/** Open questions: of a run, or of all. `version` says when to look anew. */
export function useQuestions(run?: string, version = 0) {
  return useQuery({
    queryKey: ["questions", run ?? "", version],
    queryFn: () => get<Questions>("/v1/questions", { run }),
    placeholderData: (known) => known,
  });
}
