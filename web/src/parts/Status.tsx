const SIGNS: { readonly [status: string]: string } = {
  running: "▶", active: "▶", waiting: "‖", paused: "‖", stopping: "■", succeeded: "✓", success: "✓", failed: "✕",
  failure: "✕", cancelled: "⊘", rolled_back: "↺", interrupted: "!", skipped: "↷", idle: "○", asking: "?",
};

/** A status: its sign, its word and its colour say the same. */
export function Status({ status, quiet }: { status: string; quiet?: boolean }) {
  return (
    <span className={`status status-${status}`} title={status.replace("_", " ")}>
      <span aria-hidden="true">{SIGNS[status] ?? "•"}</span>
      <span className={quiet ? "unseen" : undefined}>{status.replace("_", " ")}</span>
    </span>
  );
}
