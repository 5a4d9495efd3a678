import { say, translate } from "../text/language.ts";
import { holdsUp } from "../run/waiting.ts";
import type { IconName } from "../parts/icon-shapes.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { duration } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, type RunStatus } from "../../../tutti/src/schema/status.ts";

interface Properties {
  run: Run;
  now: number;
  onOpen: () => void;
}

const ACTIONS: Partial<Record<RunStatus, string>> = {
  analyzing: translate("Analysing the repository"),
  planning: translate("Planning the tasks"),
  confirming: translate("Waiting for you to confirm the plan"),
  spawning: translate("Waiting for the workers"),
  running: translate("Waiting for the workers"),
  aggregating: translate("Merging the results"),
  verifying: translate("Verifying the result"),
  paused: translate("Paused"),
};

export function MainCard({ run, now, onOpen }: Properties) {
  const { main, owed } = run;
  if (main === null) return null;
  const hasQuestion = Object.values(run.inbox).some((item) => holdsUp(item) && item.taskId === null);
  const busy = main.turn !== null && !isRunOver(run.status);
  const [icon, tone]: [IconName, string] = hasQuestion
    ? ["question", "you"]
    : busy
      ? ["spinner", "running"]
      : ["prompt", "neutral"];
  const retry =
    owed && owed.try > 1
      ? translate("Retrying after an invalid response: {problems}", {
          problems: owed.problems.map((problem) => say(problem)).join("; "),
        })
      : null;
  return (
    <button type="button" className="card worker-card" data-worker="main" onClick={onOpen}>
      <span className="worker-card-top">
        <span className={`inline-mark tone-${tone}`}>
          <Icon name={icon} size={14} />
        </span>
        <strong>{translate("Main session")}</strong>
        {main.attempt > 1 && (
          <span className="chip">
            {translate("attempt")} {main.attempt}
          </span>
        )}
        {busy && <span className="push muted">{duration(now - main.turn!.startedAt)}</span>}
      </span>
      <span className="worker-card-action">
        <AgentText
          text={
            hasQuestion ? translate("Waiting for your answer") : (retry ?? ACTIONS[run.status] ?? translate("Done"))
          }
          max={300}
        />
      </span>
    </button>
  );
}
