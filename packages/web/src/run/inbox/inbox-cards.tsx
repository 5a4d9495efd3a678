// The open inbox items of a run except its plan, which has `PlanCard`. Items that block the run come first.
import { ChoiceCard } from "./choice-card.tsx";
import { DataCard } from "./data-card.tsx";
import { QuestionCard } from "./question-card.tsx";
import { holdsUp } from "./waiting.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { plural } from "../../text/format.ts";

/** Cards for failed tasks. The transcript panel of each further task offers the retry. */
const MOST_FAILURES = 3;

export function InboxCards({ run }: { run: Run }) {
  const items = Object.values(run.inbox);
  const failures = items.filter(({ kind }) => kind === "failure");
  const more = failures.length - MOST_FAILURES;
  const shown = [
    ...items.filter(holdsUp),
    ...items.filter(({ kind }) => kind === "data"),
    ...failures.slice(0, MOST_FAILURES),
  ];
  return (
    <>
      {shown.map((item) => (
        <ItemCard key={item.id} item={item} run={run} />
      ))}
      {more > 0 && <p className="muted">{`${plural(more, "more task")} did not complete.`}</p>}
    </>
  );
}

function ItemCard({ item, run }: { item: InboxItem; run: Run }) {
  switch (item.kind) {
    case "question":
    case "blocker":
    case "permission":
    case "decision":
      return <QuestionCard item={item} run={run} />;
    case "budget":
    case "limit":
    case "failure":
    case "gate":
      return <ChoiceCard item={item} run={run} />;
    case "data":
      return <DataCard item={item} run={run} />;
    case "plan":
      return null;
  }
}
