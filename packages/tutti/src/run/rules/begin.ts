import { refused } from "../plan/confirm.ts";
import { planWithoutAsking } from "../answers/take-answer.ts";
import type { RunEvent } from "../../schema/event.ts";
import { mainSessionId } from "../../schema/ids.ts";
import type { Run } from "../../schema/run.ts";

export function start(run: Run, base: string, warnings: string[], at: number): RunEvent[] {
  if (run.status !== "created") throw refused(run, "started", "it was already started");
  const { analysis, taskPlanning } = run.template.phases;
  const phase = analysis.enabled ? ("analysis" as const) : ("taskPlanning" as const);
  const mainSession = mainSessionId(run.id, 1, run.template.config.sessionPrefix);
  const started: RunEvent = {
    type: "orchestrator:started",
    data: { id: run.id, mainSessionId: mainSession, phase, base, warnings },
  };
  return analysis.enabled || taskPlanning.enabled ? [started] : [started, ...planWithoutAsking(run, at)];
}
