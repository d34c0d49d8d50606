// Times as people read them.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function clock(at: number): string {
  return CLOCK.format(at);
}

export function moment(at: number | string | null | undefined): string {
  return at === null || at === undefined ? "" : DAY.format(new Date(at));
}

/** How long ago something was, as people say it. */
export function age(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
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
