import type { ReactNode } from "react";

import { type Scope, useScope } from "../api/useScope.ts";

type Given = {
  scope: Scope;
  /** What is done here, as the beginning of a sentence; without it nothing is said to those who may not. */
  what?: string;
  children: ReactNode;
};

/** Shows something to those who may do it, and tells the others why it is not there. */
export function Allowed({ scope, what, children }: Given) {
  const { may, granted } = useScope(scope);
  if (may) return children;
  return what && granted ? <span className="quiet">{lackOf(what, scope, granted)}</span> : null;
}

export function lackOf(what: string, scope: Scope, granted: readonly Scope[]): string {
  return `${what} needs the scope ${scope}; you have ${granted.join(" and ") || "none"}.`;
}
