import { useId, useState, type FormEvent } from "react";
import { AnswerHead } from "./answer-head.tsx";
import { ActionError } from "../../shell/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";
import { AgentText } from "../../text/agent-text.tsx";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

export function QuestionCard({ item, run }: { item: InboxItem; run: Run }) {
  const [text, setText] = useState("");
  const field = useId();
  const answer = useAction(() => server.answer(item.id, { text, hash: item.hash }));
  const isDecision = item.kind === "decision";
  const title = item.taskId ? `${item.taskId} asks` : isDecision ? "Merging needs a decision" : "The main session asks";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") answer.run();
  };
  return (
    <section className="card question needs-you" aria-label={isDecision ? "Decision" : "Question"}>
      <AnswerHead item={item} run={run} title={title} />
      <form className="answer" onSubmit={submit}>
        <label htmlFor={field} className="visually-hidden">
          Your answer
        </label>
        <textarea
          id={field}
          rows={2}
          placeholder="Your answer"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="answer-row">
          {item.options?.slice(0, 8).map((option) => (
            <button key={option} type="button" className="button" onClick={() => setText(option)}>
              <AgentText text={option} max={60} />
            </button>
          ))}
          <button type="submit" className="button button-primary" disabled={answer.busy || text.trim() === ""}>
            Answer
          </button>
        </div>
        <ActionError error={answer.error} />
      </form>
    </section>
  );
}
