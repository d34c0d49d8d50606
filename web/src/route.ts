// Where somebody is: the address of the page says it all, so that it can be kept and sent to others.

import { useSyncExternalStore } from "react";

const MOVED = "perdure-moved";

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(MOVED, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(MOVED, changed);
  };
}

export function usePlace(): URL {
  return new URL(useSyncExternalStore(subscribe, () => location.href));
}

export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event(MOVED));
}

/** Change what stands behind the question mark; null takes a word away. */
export function say(words: { readonly [word: string]: string | null }): void {
  const place = new URL(location.href);
  for (const [word, value] of Object.entries(words)) {
    if (value === null || value === "") place.searchParams.delete(word);
    else place.searchParams.set(word, value);
  }
  go(place.pathname + place.search, true);
}

export function runPath(run: string, words: { readonly [word: string]: string } = {}): string {
  const said = new URLSearchParams(words).toString();
  return `/runs/${encodeURIComponent(run)}${said && `?${said}`}`;
}
