import type { MouseEvent, ReactNode } from "react";

import { go } from "../route.ts";

type Given = { to: string; children: ReactNode; className?: string; current?: boolean; label?: string };

/** A link within the page. */
export function Link({ to, children, className, current, label }: Given) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={follow} className={className} aria-current={current ? "page" : undefined} aria-label={label}>
      {children}
    </a>
  );
}
