import { translate } from "../text/language.ts";
import { steps, type StepState } from "./phases.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { IconName } from "../parts/icon-shapes.ts";
import { Icon } from "../parts/icon.tsx";

const ICONS: Record<StepState, IconName> = {
  done: "check",
  partly: "warning",
  current: "spinner",
  paused: "clock",
  waiting: "question",
  ahead: "dot",
  skipped: "minus",
  stopped: "cross",
};

export function PhaseStepper({ run }: { run: Run }) {
  return (
    <ol className="stepper" aria-label={translate("Phases")}>
      {steps(run).map(({ phase, name, state, note }) => (
        <li
          key={phase}
          className={`step is-${state}`}
          aria-current={state === "current" || state === "paused" || state === "waiting" ? "step" : undefined}
        >
          <span className="step-mark">
            <Icon name={ICONS[state]} size={14} />
          </span>
          <span className="step-name">{name}</span>
          {note && <span className="step-note">{note}</span>}
        </li>
      ))}
    </ol>
  );
}
