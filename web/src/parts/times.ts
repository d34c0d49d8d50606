// Times as people read them.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function clock(at: number): string {
  return CLOCK.format(at);
}

export function moment(at: number | string | null | undefined): string {
  return at === null || at === undefined ? "" : DAY.format(new Date(at));
}

/** A moment near to now: the day is said only where it is another one. */
export function soon(at: string | null): string {
  if (at === null) return "";
  const then = new Date(at);
  return then.toDateString() === new Date().toDateString() ? CLOCK.format(then) : DAY.format(then);
}

export function span(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
