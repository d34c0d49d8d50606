import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { get } from "../api/http.ts";
import type { Json as Value } from "../fold/entry.ts";
import { Json } from "../inspector/Json.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Inert } from "../parts/Inert.tsx";

type Thing = { [word: string]: Value };

export type ShelfOf = { readonly path: string; readonly noun: string; readonly name: string; readonly about: string };

/** A list of what there is to work with, each thing with all that is declared about it. */
export function Shelf({ of }: { of: ShelfOf }) {
  const [words, setWords] = useState("");
  const found = useQuery({ queryKey: [of.path], queryFn: () => get<{ [noun: string]: Thing[] }>(`/v1/${of.path}`) });
  const things = (found.data?.[of.path] ?? []).filter((each) => JSON.stringify(each).toLowerCase().includes(words.toLowerCase()));
  return (
    <main className="narrow">
      <div className="tools">
        <h1>{of.noun}</h1>
        <input type="search" value={words} onChange={(event) => setWords(event.target.value)} placeholder="Find" aria-label={`Find ${of.noun.toLowerCase()}`} />
      </div>
      <Failed error={found.error} />
      {found.data && !things.length && <p className="quiet">There are none.</p>}
      {things.map((each, place) => (
        <details key={place} className="thing">
          <summary>
            <b>{String(each[of.name] ?? each.name ?? each.id)}</b>{" "}
            <span className="quiet">
              <Inert text={String(each[of.about] ?? "")} />
            </span>
          </summary>
          <Json value={each} />
        </details>
      ))}
    </main>
  );
}
