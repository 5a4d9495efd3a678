import { AnswerHead } from "./answer-head.tsx";
import { AnswerForm } from "../answer-form.tsx";
import { server } from "../../shell/server.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

const MOST_OPTIONS = 8;

export function QuestionCard({ item, run }: { item: InboxItem; run: Run }) {
  const isDecision = item.kind === "decision";
  const title = item.taskId ? `${item.taskId} asks` : isDecision ? "Merging needs a decision" : "The main session asks";
  return (
    <section className="card question needs-you" aria-label={isDecision ? "Decision" : "Question"}>
      <AnswerHead item={item} run={run} title={title} />
      <AnswerForm
        label="Your answer"
        placeholder="Your answer"
        submit="Answer"
        options={item.options?.slice(0, MOST_OPTIONS)}
        send={(text) => server.answer(item.id, { text, hash: item.hash })}
      />
    </section>
  );
}
