import { useEffect, useMemo, useSyncExternalStore } from "react";

import type { State } from "../fold/state.ts";
import { Follower, type Seen } from "./follower.ts";

export type Shown = Seen & {
  /** The run as it is looked at: as it stands, or as it stood. */
  readonly at: State;
  readonly isPast: boolean;
};

/** A run, live; or as it stood after `seq` facts. */
export function useRun(run: string, seq: number | null): Shown {
  const follower = useMemo(() => new Follower(run), [run]);
  useEffect(() => follower.begin(), [follower]);
  const seen = useSyncExternalStore(follower.subscribe, follower.look);
  const isPast = seq !== null && seq < seen.entries.length;
  return { ...seen, at: isPast ? follower.at(seq) : seen.state, isPast };
}
