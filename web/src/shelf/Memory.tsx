import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Memories } from "../api/documents.ts";
import { get, pathOf, post, remove } from "../api/http.ts";
import { Allowed } from "../parts/Allowed.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Inert } from "../parts/Inert.tsx";
import { Link } from "../parts/Link.tsx";
import { moment } from "../parts/times.ts";
import { runPath } from "../route.ts";
import { Ask } from "../steer/Ask.tsx";

/** What runs and people have noted for later runs. */
export function Memory() {
  const [q, setQ] = useState("");
  const [text, setText] = useState("");
  const known = useQueryClient();
  const renewed = { onSuccess: () => void known.invalidateQueries({ queryKey: ["memory"] }) };
  const found = useQuery({ queryKey: ["memory", q], queryFn: () => get<Memories>("/v1/memory", { q }) });
  const note = useMutation({ mutationFn: () => post("/v1/memory", { text }), ...renewed });
  const forget = useMutation({ mutationFn: (id: string) => remove(pathOf("memory", id)), ...renewed });
  return (
    <main className="narrow">
      <div className="tools">
        <h1>Memory</h1>
        <input type="search" value={q} onChange={(event) => setQ(event.target.value)} placeholder="Find" aria-label="Find in the memory" />
      </div>
      <Allowed scope="run" what="Noting and forgetting">
        <form
          className="tools"
          onSubmit={(event) => {
            event.preventDefault();
            note.mutate(undefined, { onSuccess: () => setText("") });
          }}
        >
          <input value={text} onChange={(event) => setText(event.target.value)} placeholder="A lesson for later runs" aria-label="A lesson for later runs" required />
          <button type="submit">Note it</button>
        </form>
      </Allowed>
      <Failed error={found.error ?? note.error ?? forget.error} />
      <ul className="memories">
        {found.data?.memories.map((each) => (
          <li key={each.id}>
            <Inert text={each.text} />{" "}
            <span className="quiet">
              {each.kind}, {moment(each.at)} {each.by && `by ${each.by} `}
              {each.run && <Link to={runPath(each.run)}>{each.run}</Link>}
            </span>{" "}
            <Allowed scope="run">
              <Ask name="Forget" title="Forget this?" onSure={() => forget.mutate(each.id)} grave>
                <p>
                  <Inert text={each.text} />
                </p>
              </Ask>
            </Allowed>
          </li>
        ))}
      </ul>
    </main>
  );
}
