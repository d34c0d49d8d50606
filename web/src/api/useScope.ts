import { useQuery } from "@tanstack/react-query";

import type { Me } from "./documents.ts";
import { get } from "./http.ts";

export type Scope = Me["scopes"][number];

/** Whether whoever looks at the page may do what needs a scope. Until the server has said so, nobody may. */
export function useScope(scope: Scope): { may: boolean; granted: readonly Scope[] | undefined } {
  const me = useQuery({
    queryKey: ["me"],
    queryFn: () => get<Me>("/v1/me"),
    staleTime: Infinity,
    refetchInterval: ({ state }) => (state.data ? false : AGAIN),
  });
  return { may: me.data?.scopes.includes(scope) ?? false, granted: me.data?.scopes };
}

/** Milliseconds until a server that did not say it is asked again. */
const AGAIN = 5_000;
