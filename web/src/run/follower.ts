// One run as its journal tells it: all facts until now, and then each as it is committed.

import { type Entries, entryOf, type Turn } from "../api/documents.ts";
import { get, pathOf } from "../api/http.ts";
import { listen } from "../api/stream.ts";
import type { Entry } from "../fold/entry.ts";
import { evolve } from "../fold/fold.ts";
import { State } from "../fold/state.ts";
import { Library } from "./library.ts";

export type Seen = {
  readonly entries: readonly Entry[];
  readonly state: State;
  /** Grows with everything that changes. */
  readonly version: number;
  readonly isLive: boolean;
  readonly isLoaded: boolean;
  readonly error: unknown;
};

export class Follower {
  private readonly run: string;
  private readonly library: Library;
  private readonly entries: Entry[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly state: State;
  private seen: Seen;
  private stop: () => void = () => undefined;
  private left: Turn[] = [];
  private working = false;
  private catching: Promise<number | undefined> | null = null;
  private closed = false;
  private past: { state: State; place: number } | null = null;

  constructor(run: string) {
    this.run = run;
    this.library = new Library(run);
    this.state = new State(run, this.library);
    const blank = { version: 0, isLive: false, isLoaded: false, error: null };
    this.seen = { entries: this.entries, state: this.state, ...blank };
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  readonly look = (): Seen => this.seen;

  /** Begin; what is handed back ends it. */
  begin(): () => void {
    this.closed = false;
    void this.catchUp().then((arrival) => {
      if (this.closed) return;
      this.stop = listen([this.run], arrival, {
        turn: (turn) => this.take(turn),
        state: (isLive) => this.opened(isLive),
      });
    });
    return () => {
      this.closed = true;
      this.stop();
    };
  }

  /** The run as it stood after some fact. The plans are here already, and nobody is asked. */
  at(seq: number): State {
    if (this.past === null || this.past.place > seq) this.past = { state: new State(this.run, this.library), place: 0 };
    const past = this.past;
    for (; past.place < Math.min(seq, this.entries.length); past.place += 1) {
      evolve(past.state, this.entries[past.place] as Entry);
    }
    return past.state;
  }

  private tell(change: Partial<Seen>): void {
    this.seen = { ...this.seen, ...change, version: this.seen.version + 1 };
    for (const each of this.watchers) each();
  }

  /** Whenever a stream opens, or cannot be opened, something may have happened that it has not told. */
  private opened(isLive: boolean): void {
    if (isLive !== this.seen.isLive) this.tell({ isLive });
    void this.catchUp();
  }

  private catchUp(): Promise<number | undefined> {
    this.catching ??= this.fetched().finally(() => {
      this.catching = null;
    });
    return this.catching;
  }

  private async fetched(): Promise<number | undefined> {
    try {
      for (;;) {
        const page = await get<Entries>(pathOf("runs", this.run, "entries"), { after: this.state.seq, limit: PAGE });
        await this.fold(page.entries.map(entryOf));
        if (page.entries.length < PAGE) {
          if (!this.seen.isLoaded || this.seen.error) this.tell({ isLoaded: true, error: null });
          return page.arrival;
        }
      }
    } catch (error) {
      this.tell({ error, isLoaded: true });
      return undefined;
    }
  }

  private take(turn: Turn): void {
    this.left.push(turn);
    if (!this.working) void this.work();
  }

  private async work(): Promise<void> {
    this.working = true;
    for (let turns = this.left; turns.length; turns = this.left) {
      this.left = [];
      const entries = turns.flatMap((each) => each.entries.map(entryOf));
      const isGap = (entries[0]?.seq ?? 0) > this.state.seq + 1;
      await (isGap ? this.catchUp() : this.fold(entries).catch((error: unknown) => this.tell({ error })));
    }
    this.working = false;
  }

  /** Facts that are known already are passed by. */
  private async fold(entries: readonly Entry[]): Promise<void> {
    const fresh = entries.filter((entry) => entry.seq > this.state.seq);
    await this.library.prepare(fresh);
    for (const entry of fresh) {
      if (entry.seq !== this.state.seq + 1) continue;
      evolve(this.state, entry);
      this.entries.push(entry);
    }
    if (fresh.length) this.tell({});
  }
}

const PAGE = 1_000;
