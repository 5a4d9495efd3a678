import { useId, useState, type FormEvent } from "react";
import { ActionError } from "../shell/action-error.tsx";
import { Icon } from "../shell/icon.tsx";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { AgentText } from "../text/agent-text.tsx";
import { LongText } from "../text/long-text.tsx";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

export function QuestionCard({ item, run }: { item: InboxItem; run: Run }) {
  const [text, setText] = useState("");
  const field = useId();
  const answer = useAction(() => server.answer(item.id, { text }));
  const task = run.tasks.find(({ id }) => id === item.taskId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") answer.run();
  };
  return (
    <section className="card question needs-you" aria-label="A question">
      <header className="plan-head">
        <Icon name="question" size={20} />
        <div>
          <h2>
            {item.taskId ? `${item.taskId} asks` : "The main session asks"}
            {task && (
              <span className="muted">
                {" "}
                <AgentText text={task.title} max={100} />
              </span>
            )}
          </h2>
          <LongText text={item.question} max={2000} />
        </div>
      </header>
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
