import { useEffect, useState } from "react";

import { listen } from "../api/stream.ts";

const PAUSE = 400;

/** Grows when something happens in any run, though not more often than people can see. */
export function useTurns(): { version: number; isLive: boolean } {
  const [seen, setSeen] = useState({ version: 0, isLive: false });
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const grow = () => {
      waiting ??= setTimeout(() => {
        waiting = undefined;
        setSeen((known) => ({ ...known, version: known.version + 1 }));
      }, PAUSE);
    };
    const stop = listen([], undefined, {
      turn: grow,
      state: (isLive) => {
        setSeen((known) => ({ ...known, isLive }));
        if (isLive) grow();
      },
    });
    return () => {
      clearTimeout(waiting);
      stop();
    };
  }, []);
  return seen;
}
