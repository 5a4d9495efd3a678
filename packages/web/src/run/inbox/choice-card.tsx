import { AnswerHead } from "./answer-head.tsx";
import { ActionError } from "../../shell/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { capitalize } from "../../../../tutti/src/run/describe-event.ts";
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
  const possible = item.kind !== "failure" || canRetry(run, item.taskId ?? "");
  const title = TITLES[item.kind] ?? `${item.taskId} did not complete`;
  return (
    <section
      className={`card question${item.kind === "failure" ? "" : " needs-you"}`}
      aria-label={LABELS[item.kind] ?? "Choice"}
    >
      <AnswerHead item={item} run={run} title={title} />
      <div className="answer-row">
        {(item.options ?? []).map((option, index) => (
          <Choice key={option} item={item} option={option} index={index} possible={index > 0 || possible} />
        ))}
      </div>
    </section>
  );
}

interface ChoiceProperties {
  item: InboxItem;
  option: string;
  index: number;
  possible: boolean;
}

function Choice({ item, option, index, possible }: ChoiceProperties) {
  const answer = useAction(() => server.answer(item.id, { option: index, hash: item.hash }));
  return (
    <>
      <button type="button" className="button" disabled={answer.busy || !possible} onClick={answer.run}>
        <AgentText text={capitalize(option)} max={60} />
      </button>
      <ActionError error={answer.error} />
    </>
  );
}
