import { useCallback, useState } from "react";

import type { Folds } from "./drawing.ts";

/** Which groups somebody has folded or unfolded. */
export function useFolds(): [Folds, (key: string, folded: boolean) => void] {
  const [folds, setFolds] = useState<Folds>(() => new Map());
  const fold = useCallback((key: string, folded: boolean) => setFolds((known) => new Map(known).set(key, folded)), []);
  return [folds, fold];
}
