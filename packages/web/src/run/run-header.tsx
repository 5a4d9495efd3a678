import { translate } from "../text/language.ts";
import { PhaseStepper } from "./phase-stepper.tsx";
import type { StatusStyle } from "./run-look.ts";
import { RunActions } from "./run-actions.tsx";
import { RunFacts } from "./run-facts.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { Badge } from "../parts/badge.tsx";
import { AgentText } from "../text/agent-text.tsx";

export function RunHeader({ run, look }: { run: Run; look: StatusStyle }) {
  return (
    <section className="run-header" aria-label={translate("Run")}>
      <div className="run-title">
        <Badge tone={look.tone} icon={look.icon}>
          {look.word}
        </Badge>
        <h1>
          <AgentText text={run.userRequest} max={400} />
        </h1>
        <RunActions run={run} />
      </div>
      <RunFacts run={run} />
      <PhaseStepper run={run} />
    </section>
  );
}
