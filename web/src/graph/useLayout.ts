import { useEffect, useRef, useState } from "react";

import type { Drawing } from "./drawing.ts";
import { type Places, placesOf, shapeOf } from "./layout.ts";

export type Laid = { readonly drawing: Drawing; readonly places: Places };

/** A drawing with its places. While new places are worked out, the old ones are shown. */
export function useLayout(drawing: Drawing): Laid | null {
  const [laid, setLaid] = useState<{ shape: string; places: Places; drawing: Drawing } | null>(null);
  const shape = shapeOf(drawing);
  const latest = useRef(shape);
  latest.current = shape;
  useEffect(() => {
    void placesOf(drawing).then((places) => {
      if (latest.current === shape) setLaid({ shape, places, drawing });
    });
    // What stands in the boxes changes often, and moves none of them.
  }, [shape]);
  if (laid === null) return null;
  return laid.shape === shape ? { drawing, places: laid.places } : laid;
}
