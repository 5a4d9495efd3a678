// Writes the main events of the engine to the server's log: start and end of runs, failures, new inbox items and a halt of
// the engine. The event log stays the complete record. Messages are constants, unlike the sentences of `describeEvent`, so
// that operators can search and alert on them; the variable parts are members.
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

function lineOf(event: StoredEvent): Line | null {
  switch (event.type) {
    case "orchestrator:created": {
      const { templateId, agent, cwd } = event.data;
      return ["info", "run created", { template: templateId, agent: agent.split(" ")[0], folder: cwd }];
    }
    case "orchestrator:started":
      return ["info", "run started"];
    case "orchestrator:completed":
      return ["info", "run ended", { outcome: event.data.outcome }];
    case "orchestrator:cancelled":
      return ["info", "run ended", { outcome: "cancelled" }];
    case "orchestrator:error": {
      const { code, error, operation, fatal } = event.data;
      return ["warn", fatal ? "run failed" : "run error", { code, error, operation }];
    }
    case "orchestrator:reopened":
      return ["info", "run reopened", { phase: event.data.phase }];
    case "orchestrator:paused":
      return ["info", "run paused", { reason: event.data.reason, detail: event.data.detail }];
    case "orchestrator:resumed":
      return ["info", "run resumed"];
    case "orchestrator:cleanup":
      return ["info", event.data.removed ? "run removed" : "run cleaned up"];
    case "worker:failed":
    case "worker:timeout": {
      const { sessionId: session, taskId: task, code, error } = event.data;
      return [
        "warn",
        event.type === "worker:failed" ? "worker failed" : "worker timed out",
        { session, task, code, error },
      ];
    }
    case "worker:lost":
    case "main:lost": {
      const { sessionId: session, taskId: task, reason } = event.data;
      return ["warn", "session lost", { session, task, reason }];
    }
    case "inbox:added": {
      const { id, kind } = event.data.item;
      return ["info", "inbox item added", { item: id, kind }];
    }
    case "provider:refused": {
      const { provider, cause, detail, until } = event.data;
      return ["warn", "provider refused", { provider, cause, detail, until: new Date(until).toISOString() }];
    }
    default:
      return null;
  }
}
