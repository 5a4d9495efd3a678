import { Icon } from "../../shell/icon.tsx";
import { AgentText } from "../../text/agent-text.tsx";
import { LongText } from "../../text/long-text.tsx";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

export function AnswerHead({ item, run, title }: { item: InboxItem; run: Run; title: string }) {
  const task = run.tasks.find(({ id }) => id === item.taskId);
  return (
    <header className={`plan-head${item.kind === "failure" ? " is-failure" : ""}`}>
      <Icon name={item.kind === "failure" ? "warning" : "question"} size={20} />
      <div>
        <h2>
          {title}
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
  );
}
