import type { Account } from "../api/documents.ts";

type Given = { budgets: { readonly [step: string]: { readonly [word: string]: Account } } };

/** How much of each budget is spent, and how much is promised to attempts at work. */
export function Budgets({ budgets }: Given) {
  const all = Object.entries(budgets).flatMap(([step, words]) => Object.entries(words).map(([word, account]) => ({ step, word, account })));
  if (!all.length) return null;
  return (
    <section aria-label="Budgets">
      <h3>Budgets</h3>
      <ul className="budgets">
        {all.map(({ step, word, account }) => (
          <li key={`${step} ${word}`}>
            <span>
              {step || "the run"}: {word}
            </span>{" "}
            <span className="quiet">
              {account.spent} of {account.limit}
              {account.reserved > 0 && `, ${account.reserved} promised`}
            </span>
            <Bar account={account} said={`${step || "the run"}: ${account.spent} of ${account.limit} ${word}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Bar({ account, said }: { account: Account; said: string }) {
  const part = (amount: number) => `${Math.min(100, account.limit ? (amount / account.limit) * 100 : 100)}%`;
  return (
    <div className="budget" role="meter" aria-label={said} aria-valuemin={0} aria-valuemax={account.limit} aria-valuenow={account.spent}>
      <div className={account.overrun > 0 ? "spent over" : "spent"} style={{ width: part(account.spent) }} />
      <div className="reserved" style={{ width: part(account.reserved) }} />
    </div>
  );
}
