// `logEngine` writes the main events of the engine to the server's log: start and end of runs, failures, new inbox
// items and a halt of the engine. The event log stays the complete record. Messages are constants, unlike the sentences
// of `describeEvent`, so that operators can search and alert on them; the variable parts are `Members`.
import { errorMembers, type Log, type Members } from "./log.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";

type Line = [level: "info" | "warn", message: string, members?: Members];

export function logEngine(log: Log, engine: Pick<Engine, "subscribe" | "halted">): void {
  engine.halted.catch((error: unknown) => {
    // `engine_stopped` means that the engine was closed normally.
    if (error instanceof TuttiError && error.code === "engine_stopped") return;
    log.error("engine halted", errorMembers(error));
  });
  engine.subscribe((event, run) => {
    const line = lineOf(event);
    if (!line || !run) return;
    const [level, message, members] = line;
    log[level](message, { run: run.id, ...members });
  });
}

function lineOf({ type, data }: StoredEvent): Line | null {
  switch (type) {
    case "orchestrator:created": {
      const { templateId: template, agent, cwd: folder } = data;
      return ["info", "run created", { template, agent: agent.split(" ")[0], folder }];
    }
    case "orchestrator:started":
      return ["info", "run started"];
    case "orchestrator:completed":
      return ["info", "run ended", { outcome: data.outcome }];
    case "orchestrator:cancelled":
      return ["info", "run ended", { outcome: "cancelled" }];
    case "orchestrator:error":
      return ["warn", data.fatal ? "run failed" : "run error", pick(data, "code", "error", "operation")];
    case "orchestrator:reopened":
      return ["info", "run reopened", pick(data, "phase")];
    case "orchestrator:paused":
      return ["info", "run paused", pick(data, "reason", "detail")];
    case "orchestrator:resumed":
      return ["info", "run resumed"];
    case "orchestrator:cleanup":
      return ["info", data.removed ? "run removed" : "run cleaned up"];
    case "worker:failed":
      return ["warn", "worker failed", { ...sessionOf(data), ...pick(data, "code", "error") }];
    case "worker:timeout":
      return ["warn", "worker timed out", { ...sessionOf(data), ...pick(data, "code", "error") }];
    case "worker:lost":
    case "main:lost":
      return ["warn", "session lost", { ...sessionOf(data), reason: data.reason }];
    case "inbox:added":
      return ["info", "inbox item added", { item: data.item.id, kind: data.item.kind }];
    case "provider:refused": {
      const until = new Date(data.until).toISOString();
      return ["warn", "provider refused", { ...pick(data, "provider", "cause", "detail"), until }];
    }
    default:
      return null;
  }
}

const pick = <T extends object>(data: T, ...names: (keyof T)[]): Members =>
  Object.fromEntries(names.map((name) => [name, data[name]]));

const sessionOf = ({ sessionId, taskId }: { sessionId: string; taskId: string | null }): Members => ({
  session: sessionId,
  task: taskId,
});
