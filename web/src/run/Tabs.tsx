import type { KeyboardEvent } from "react";

import { show, type Tab } from "./selection.ts";

const NAMES: readonly [Tab, string][] = [["graph", "Graph"], ["timeline", "Timeline"], ["log", "Log"], ["plan", "Plan"]];

/** Which view is shown; the arrow keys go from one to the next. */
export function Tabs({ tab }: { tab: Tab }) {
  const step = (event: KeyboardEvent) => {
    const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const place = NAMES.findIndex(([each]) => each === tab);
    const next = NAMES[(place + move + NAMES.length) % NAMES.length];
    if (!move || !next) return;
    show(next[0]);
    document.getElementById(`tab-${next[0]}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Views" onKeyDown={step}>
      {NAMES.map(([each, name]) => (
        <button key={each} id={`tab-${each}`} type="button" role="tab" aria-selected={each === tab} tabIndex={each === tab ? 0 : -1} onClick={() => show(each)}>
          {name}
        </button>
      ))}
    </div>
  );
}
