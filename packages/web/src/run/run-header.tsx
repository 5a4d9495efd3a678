import { PhaseStepper } from "./phase-stepper.tsx";
import { CancelButton } from "./cancel-button.tsx";
import type { Look } from "./run-look.ts";
import { RunFacts } from "./run-facts.tsx";
import { StartButton } from "./start-button.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { Badge } from "../shell/badge.tsx";
import { AgentText } from "../text/agent-text.tsx";

export function RunHeader({ run, look }: { run: Run; look: Look }) {
  return (
    <section className="run-header" aria-label="Run">
      <div className="run-title">
        <Badge tone={look.tone} icon={look.icon}>
          {look.word}
        </Badge>
        <h1>
          <AgentText text={run.userRequest} max={400} />
        </h1>
        <div className="run-actions">
          {run.status === "created" && <StartButton id={run.id} />}
          {!isRunOver(run.status) && run.status !== "confirming" && <CancelButton id={run.id} />}
        </div>
      </div>
      <RunFacts run={run} />
      <PhaseStepper run={run} />
    </section>
  );
}
