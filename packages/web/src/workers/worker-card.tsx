import { say, translate } from "../text/language.ts";
import { ToolCounts } from "./tool-counts.tsx";
import { workerTime } from "../run/clock.ts";
import { taskLook } from "../run/task-look.ts";
import { workerParts } from "../run/template-look.ts";
import { Icon } from "../parts/icon.tsx";
import { Meter } from "../parts/meter.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { duration } from "../text/format.ts";
import { wordsOf } from "../transcript/split-blocks.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

interface Properties {
  worker: Worker;
  run: Run;
  now: number;
  onOpen: () => void;
}

export function WorkerCard({ worker, run, now, onOpen }: Properties) {
  const look = taskLook(run, worker.task);
  const time = workerTime(worker, now);
  const parts = workerParts(run.template.ui);
  const words = parts.has("words") ? wordsOf(worker.outputPreview ?? "", run.template.prompts.responseFormat) : "";
  return (
    <button type="button" className="card worker-card" data-worker={worker.taskId} onClick={onOpen}>
      <span className="worker-card-top">
        <span className={`inline-mark tone-${look.tone}`}>
          <Icon name={look.icon} size={14} />
        </span>
        <span className="mono">{worker.taskId}</span>
        {worker.attempt > 1 && (
          <span className="chip">
            {translate("attempt")} {worker.attempt}
          </span>
        )}
        <span className="push muted">{time === null ? look.word : duration(time)}</span>
      </span>
      <strong className="worker-card-title">
        <AgentWords text={worker.task.title} max={120} />
      </strong>
      <span className="worker-card-action">
        {parts.has("action") && <Action worker={worker} word={look.word} />}
        <span className="push mono">{worker.progress} %</span>
      </span>
      {parts.has("bar") && (
        <Meter
          value={worker.progress}
          tone={look.tone}
          label={translate("Progress of {taskId}", { taskId: worker.taskId })}
        />
      )}
      {words !== "" && (
        <span className="last-words">
          <AgentWords text={words} max={280} />
        </span>
      )}
      {parts.has("tools") && <ToolCounts stats={worker.toolStats} />}
    </button>
  );
}

function Action({ worker: { currentAction, owed }, word }: { worker: Worker; word: string }) {
  if (currentAction !== null) return <AgentWords text={currentAction} max={160} />;
  const retry = owed && owed.try > 1 ? { problems: owed.problems.map((problem) => say(problem)).join("; ") } : null;
  const text = retry ? translate("Retrying after an invalid response: {problems}", retry) : `${word} …`;
  return <AgentText text={text} max={160} />;
}
