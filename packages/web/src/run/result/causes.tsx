import { FoldedList } from "./folded-list.tsx";
import type { Outcome } from "../../../../tutti/src/schema/outcome.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";

const WORDS: Record<string, string> = { neverStarted: "never started", timeout: "timed out" };

/** The planned tasks that did not complete, or not fully, with the reasons. */
export function Causes({ causes, tasks }: { causes: Outcome["causes"]; tasks: Task[] }) {
  if (causes.length === 0) return null;
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return (
    <FoldedList title={`${plural(causes.length, "task")} to review`} items={causes} most={100}>
      {({ taskId, status, reason }) => (
        <li key={taskId}>
          <strong>
            <AgentText text={titles.get(taskId) ?? taskId} max={120} />
          </strong>
          <div>
            <code>{taskId}</code> {WORDS[status] ?? status}: <AgentText text={reason} max={400} />
          </div>
        </li>
      )}
    </FoldedList>
  );
}
