import { useEffect, useState } from "react";

/** The time, each second, as long as that is of use. */
export function useNow(isOfUse: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isOfUse) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOfUse]);
  return now;
}
