import { useState } from "react";

import type { Question } from "../api/documents.ts";
import { pathOf } from "../api/http.ts";
import { useScope } from "../api/useScope.ts";
import { lackOf } from "../parts/Allowed.tsx";
import { Failed } from "../parts/Failed.tsx";
import { Inert } from "../parts/Inert.tsx";
import { useAsking } from "../steer/useAsking.ts";
import { type Field, fieldsOf, valueOf } from "./fields.ts";

/** The ways to answer a question, each with what follows from it. */
export function AnswerForm({ question }: { question: Question }) {
  const [reason, setReason] = useState("");
  const [said, setSaid] = useState<{ [name: string]: string }>({});
  const asking = useAsking();
  const { may, granted } = useScope("approve");
  const answer = (value: unknown) =>
    asking.mutate({ path: pathOf("runs", question.run, "questions", question.id), body: { value, ...(reason ? { reason } : {}) } });
  const words = Object.entries(question.answers ?? {}).filter(([word]) => !PLACES.has(word));
  const fields = fieldsOf(question);
  const text = Object.entries(question.answers ?? {}).find(([word]) => PLACES.has(word))?.[1];
  return (
    <fieldset className="answer" disabled={!may}>
      <ul className="answers">
        {words.map(([word, follows]) => (
          <li key={word}>
            <button type="button" className={word === "approved" ? "main" : ""} disabled={asking.isPending} onClick={() => answer(word)}>
              {LABELS[word] ?? word}
            </button>{" "}
            <span className="follows">
              <Inert text={follows} />
            </span>
          </li>
        ))}
      </ul>
      {fields.length > 0 && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            answer(valueOf(question, fields, said));
          }}
        >
          {fields.map((field) => (
            <Input key={field.name} field={field} value={said[field.name] ?? ""} onChange={(value) => setSaid({ ...said, [field.name]: value })} />
          ))}
          <button type="submit" className="main" disabled={asking.isPending}>
            Answer
          </button>{" "}
          {text && (
            <span className="follows">
              <Inert text={text} />
            </span>
          )}
        </form>
      )}
      <label className="reason">
        Why (it stands in the journal)
        <input value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      {!may && granted && <p className="quiet">{lackOf("Answering", "approve", granted)}</p>}
      <Failed error={asking.error} />
    </fieldset>
  );
}

const LABELS: { readonly [word: string]: string } = { approved: "Approve", rejected: "Reject" };
/** What stands for something that somebody has to write. */
const PLACES: ReadonlySet<string> = new Set(["TEXT", "FORM", "NUMBER"]);

function Input({ field, value, onChange }: { field: Field; value: string; onChange: (value: string) => void }) {
  return (
    <label>
      {field.title}
      {field.choices ? (
        <select value={value} onChange={(event) => onChange(event.target.value)} required={field.required}>
          <option value="" />
          {field.choices.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : (
        <input type={field.type === "number" ? "number" : "text"} step="any" value={value} onChange={(event) => onChange(event.target.value)} required={field.required} />
      )}
    </label>
  );
}
