// The one stream of the server: turns of runs, as they are committed.

import type { Turn } from "./documents.ts";

export type Heard = { turn: (turn: Turn) => void; state: (isOpen: boolean) => void };

/** Listens until it is told to stop. After a break the browser says where it was, and nothing is missed. */
export function listen(runs: readonly string[], after: number | undefined, heard: Heard): () => void {
  const words = new URLSearchParams(runs.map((run) => ["run", run]));
  if (after !== undefined) words.set("after", String(after));
  let source: EventSource;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource(`/v1/events?${words}`);
    source.addEventListener("open", () => heard.state(true));
    source.addEventListener("turn", (event) => {
      if (event.lastEventId) words.set("after", event.lastEventId);
      heard.turn(JSON.parse(event.data) as Turn);
    });
    source.addEventListener("error", () => {
      heard.state(false);
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      words.delete("after"); // perhaps the journal is another one; what is missing is asked for
      again = setTimeout(open, RETRY);
    });
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}

const RETRY = 3_000;
