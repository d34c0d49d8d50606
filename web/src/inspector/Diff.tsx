const BEGINS = /^(diff --git |--- .*\n\+\+\+ )/m;

export function isDiff(text: string): boolean {
  return BEGINS.test(text) && /^@@ /m.test(text);
}

/** What differs between files, line by line. */
export function Diff({ text }: { text: string }) {
  return (
    <pre className="diff" tabIndex={0} aria-label="Changes of files">
      {text.split("\n").map((line, place) => (
        <span key={place} className={kindOf(line)}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function kindOf(line: string): string {
  if (/^(diff |--- |\+\+\+ |index )/.test(line)) return "diff-file";
  if (line.startsWith("@@")) return "diff-place";
  return line.startsWith("+") ? "diff-new" : line.startsWith("-") ? "diff-old" : "";
}
