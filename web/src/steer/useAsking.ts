import { useMutation, useQueryClient } from "@tanstack/react-query";

import { post } from "../api/http.ts";

type Asked = { path: string; body?: unknown; headers?: HeadersInit };

/** Ask something of the server. What is shown of runs and questions is looked at anew after it. */
export function useAsking<Answer = unknown>(then?: (answer: Answer) => void) {
  const known = useQueryClient();
  return useMutation({
    mutationFn: ({ path, body, headers }: Asked) => post<Answer>(path, body, headers),
    onSuccess: (answer) => {
      void known.invalidateQueries();
      then?.(answer);
    },
  });
}
