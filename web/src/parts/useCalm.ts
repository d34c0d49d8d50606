import { useEffect, useRef, useState } from "react";

/** A value that changes at most once in a while, however often it is another one. The last one is never missed. */
export function useCalm<Value>(value: Value, pause: number): Value {
  const [calm, setCalm] = useState(value);
  const changed = useRef(0);
  useEffect(() => {
    const left = Math.max(0, changed.current + pause - Date.now());
    const timer = setTimeout(() => {
      changed.current = Date.now();
      setCalm(value);
    }, left);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return calm;
}
