import { AnswerHead } from "./answer-head.tsx";
import { OrderButton } from "../../shell/order-button.tsx";
import { server } from "../../shell/server.ts";
import { shown } from "../../text/safe-text.ts";
import { capitalize } from "../../../../tutti/src/run/describe-event.ts";
import { canResumeMain } from "../../../../tutti/src/run/lifecycle.ts";
import { canRetry } from "../../../../tutti/src/run/rules/retry.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

const LABELS: Partial<Record<InboxItem["kind"], string>> = {
  budget: "Budget",
  limit: "Usage limit",
  failure: "Failed task",
};
const TITLES: Partial<Record<InboxItem["kind"], string>> = {
  budget: "The budget is used up",
  limit: "A usage limit is reached",
};

/** An inbox item with fixed options: `budget`, `limit` or `failure`. */
export function ChoiceCard({ item, run }: { item: InboxItem; run: Run }) {
  // Option 0 of a failure is the retry, which the server rejects while the run merges or verifies.
  const possible = item.kind !== "failure" || (item.taskId === null ? canResumeMain(run) : canRetry(run, item.taskId));
  const title = TITLES[item.kind] ?? `${item.taskId ?? "The main session"} did not complete`;
  return (
    <section
      className={`card question${item.kind === "failure" ? "" : " needs-you"}`}
      aria-label={LABELS[item.kind] ?? "Choice"}
    >
      <AnswerHead item={item} run={run} title={title} />
      <div className="answer-row">
        {(item.options ?? []).map((option, index) => (
          <OrderButton
            key={option}
            word={shown(capitalize(option), 60)}
            disabled={index === 0 && !possible}
            order={() => server.answer(item.id, { option: index, hash: item.hash })}
          />
        ))}
      </div>
    </section>
  );
}
