import { useEffect, useState } from "react";

import { listen } from "../api/stream.ts";
import { useCalm } from "../parts/useCalm.ts";

const PAUSE = 400;

/** Grows when something happens in any run, though not more often than people can see. */
export function useTurns(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const grow = () => setVersion((known) => known + 1);
    return listen([], undefined, { turn: grow, state: grow });
  }, []);
  return useCalm(version, PAUSE);
}
