import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

type Given = {
  count: number;
  height: number;
  label: string;
  row: (place: number) => ReactNode;
  /** The row to keep in sight. */
  shown?: number | undefined;
};

/** A long list of which only the part in sight is drawn. */
export function Rows({ count, height, label, row, shown }: Given) {
  const frame = useRef<HTMLDivElement>(null);
  const [from, setFrom] = useState(0);
  const [seen, setSeen] = useState(40);
  const look = () => {
    const box = frame.current;
    if (!box) return;
    setFrom(Math.max(0, Math.floor(box.scrollTop / height) - SPARE));
    setSeen(Math.ceil(box.clientHeight / height) + 2 * SPARE);
  };
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box || shown === undefined || shown < 0) return;
    const top = shown * height;
    if (top < box.scrollTop || top + height > box.scrollTop + box.clientHeight) {
      box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    }
  }, [shown, height]);
  const places = Array.from({ length: Math.max(0, Math.min(count, from + seen) - from) }, (_, each) => from + each);
  return (
    <div ref={frame} className="rows" onScroll={look} role="list" aria-label={label} tabIndex={0}>
      <div className="rows-all" style={{ height: count * height }}>
        <div className="rows-seen" style={{ transform: `translateY(${from * height}px)` }}>
          {places.map((place) => (
            <div key={place} role="listitem" aria-setsize={count} aria-posinset={place + 1} style={{ height }}>
              {row(place)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

const SPARE = 10;
