// What a journal is made of, as the server tells it. The words are those of docs/reference/events.md.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A value as facts hold it: written where it stands, or kept apart under a digest. */
export type Value = { data?: Json; sha256?: string };

export type Failure = { kind: string; message: string; retry_after?: number | null; detail?: Json };

export type Usage = { seconds?: number | null; tokens?: number; usd?: number | null; calls?: number };

/** A fact. Fields that have their default are left out. */
export type Body = {
  readonly [field: string]: unknown;
  readonly step?: string;
  readonly visit?: number;
  readonly attempt?: number;
  readonly deed?: string;
  readonly question?: string;
};

export type Entry = {
  readonly run: string;
  readonly seq: number;
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly body: Body;
};

export function failureOf(body: Body): Failure | null {
  return (body.failure as Failure | undefined) ?? null;
}
