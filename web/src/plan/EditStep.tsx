import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import type { Diff } from "../api/documents.ts";
import { pathOf, post } from "../api/http.ts";
import { Failed } from "../parts/Failed.tsx";
import type { Shown } from "../run/useRun.ts";
import { useAsking } from "../steer/useAsking.ts";
import { Changes } from "./Changes.tsx";
import { type Place, editsOf } from "./edits.ts";

const PAUSE = 350;

/** Change a step of a run, or put one beside it. What is wrong with it is told while somebody types. */
export function EditStep({ shown, id, onDone }: { shown: Shown; id: string; onDone: () => void }) {
  const { run, revision, index } = shown.state;
  const isOver = shown.state.ended !== null;
  const [place, setPlace] = useState<Place>("replace");
  const [text, setText] = useState(() => JSON.stringify(index?.byId.get(id)?.step ?? {}, null, 2));
  const [why, setWhy] = useState("");
  const [based] = useState(revision);
  const path = pathOf("runs", run, isOver ? "retry" : "revise");
  const headers = { "If-Match": `"${based}"` };
  const looking = useMutation({
    mutationFn: (edits: unknown) => post<Diff>(pathOf("runs", run, "revise"), { edits, dry: true }, headers),
  });
  const sending = useAsking(onDone);
  const edits = editsOf(place, id, text);
  const look = looking.mutate;
  const written = JSON.stringify(edits.found);
  useEffect(() => {
    if (written === undefined || isOver) return;
    const timer = setTimeout(() => look(JSON.parse(written)), PAUSE);
    return () => clearTimeout(timer);
  }, [written, look, isOver]);
  return (
    <form
      className="edit-step"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate({ path, body: { edits: edits.found, ...(why ? { why } : {}) }, headers });
      }}
    >
      <label>
        What changes
        <select value={place} onChange={(event) => setPlace(event.target.value as Place)}>
          <option value="replace">this step becomes</option>
          <option value="after">a new step after it</option>
          <option value="before">a new step before it</option>
          <option value="remove">it goes</option>
        </select>
      </label>
      {place !== "remove" && (
        <textarea value={text} onChange={(event) => setText(event.target.value)} rows={12} spellCheck={false} aria-label="The step as JSON" aria-invalid={Boolean(edits.flaw ?? looking.error)} />
      )}
      <label>
        Why (it stands in the journal)
        <input value={why} onChange={(event) => setWhy(event.target.value)} />
      </label>
      {edits.flaw && <p className="failed">{edits.flaw}</p>}
      {!edits.flaw && <Failed error={looking.error} />}
      {!edits.flaw && looking.data && !looking.error && <Changes diff={looking.data} />}
      <Failed error={sending.error} />
      <div className="tools">
        <button type="button" onClick={onDone}>
          Leave it
        </button>
        <button type="submit" className="main" disabled={Boolean(edits.flaw) || Boolean(looking.error) || sending.isPending}>
          {isOver ? "Change the plan and retry" : "Change the plan"}
        </button>
      </div>
    </form>
  );
}
