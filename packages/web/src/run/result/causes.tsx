import { say, translate } from "../../text/language.ts";
import { withDetail } from "../../../../tutti/src/run/describe-event.ts";
import { FoldedList } from "./folded-list.tsx";
import type { Outcome } from "../../../../tutti/src/schema/outcome.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { AgentWords } from "../../text/agent-words.tsx";
import { isOfTutti } from "../../text/is-of-tutti.ts";
import { plural } from "../../text/format.ts";

const WORDS: Readonly<Record<string, string>> = {
  neverStarted: translate("never started#task"),
  timeout: translate("timed out#task"),
  failed: translate("failed#task"),
  cancelled: translate("cancelled#task"),
  blocked: translate("blocked#task"),
  partial: translate("partial#task"),
  contradicted: translate("contradicted#task"),
  out_of_scope: translate("out of scope#task"),
};

/** The reasons of the others are words of agents, or may hold some. */
const OF_TUTTI: ReadonlySet<string> = new Set(["blocked", "neverStarted", "contradicted", "out_of_scope"]);

interface Properties {
  causes: Outcome["causes"];
  tasks: readonly Task[];
  workers: Run["workers"];
}

export function Causes({ causes, tasks, workers }: Properties) {
  if (causes.length === 0) return null;
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return (
    <FoldedList
      title={translate("{tasks} to review", { tasks: plural(causes.length, "task") })}
      items={causes}
      most={100}
    >
      {({ taskId, status, reason }) => (
        <li key={`${taskId} ${status}`}>
          <strong>
            <AgentWords text={titles.get(taskId) ?? taskId} max={120} />
          </strong>
          <div>
            <code>{taskId}</code> {withDetail(WORDS[status] ?? status, " ", say).trimEnd()}{" "}
            {OF_TUTTI.has(status) || isOfTutti(workers[taskId]?.errorCode) ? (
              <AgentText
                text={reason
                  .split("; ")
                  .map((each) => say(each))
                  .join("; ")}
                max={400}
              />
            ) : (
              <AgentWords text={say(reason)} max={400} />
            )}
          </div>
        </li>
      )}
    </FoldedList>
  );
}
