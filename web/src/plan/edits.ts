// Edits of a plan, from what somebody has written.

export type Place = "replace" | "after" | "before" | "remove";

export type Edits = { found: { [verb: string]: unknown }[] | undefined; flaw: string };

export function editsOf(place: Place, id: string, text: string): Edits {
  if (place === "remove") return { found: [{ remove: id }], flaw: "" };
  let step: unknown;
  try {
    step = JSON.parse(text);
  } catch (error) {
    return { found: undefined, flaw: `This is no JSON yet: ${error instanceof Error ? error.message : ""}` };
  }
  if (typeof step !== "object" || step === null || Array.isArray(step)) {
    return { found: undefined, flaw: "A step is an object: { \"id\": …, \"tool\": … }" };
  }
  const edit = place === "replace" ? { replace: id, step } : { insert: step, [place]: id };
  return { found: [edit], flaw: "" };
}
