import { guarded } from "../guarded.ts";
import { OwnSessions, type OwnSessionsOptions } from "../sessions/own-sessions.ts";
import type { ServerLog } from "../runs/server-log.ts";
import type { SessionAccess } from "../sessions/session-access.ts";
import { SubSessionLog } from "./sub-session-log.ts";
import { SubSessionMonitor, type SubSessionSettings } from "./sub-session-monitor.ts";
import type { SubagentReport } from "../../run/command.ts";
import { SubSessionOptions } from "../../schema/options.ts";
import type { World } from "../../world.ts";

export interface SubSessionCare {
  settings: SubSessionSettings;
  /** Whether the monitor polls without an explicit start. */
  automatic: boolean;
  /** Extends the access to sessions beyond those of Tutti's runs. */
  reach?: (own: OwnSessions) => SessionAccess;
}

export interface SubSessionPartOptions extends OwnSessionsOptions {
  log: ServerLog;
  world: World;
  /** The documented defaults apply if undefined. */
  care: SubSessionCare | undefined;
  isLive: (runId: string) => boolean;
}

export interface SubSessionPart {
  log: SubSessionLog;
  monitor: SubSessionMonitor;
  /** Records a sub-agent that a session reports. The run neither waits for it nor fails with it. */
  recordSubagent: (runId: string, sessionId: string, subagent: SubagentReport) => void;
}

export function openSubSessions(options: SubSessionPartOptions): SubSessionPart {
  const { log: serverLog, world, isLive, care } = options;
  const { settings, automatic, reach } = care ?? { settings: SubSessionOptions.parse({}), automatic: true };
  const ownSessions = new OwnSessions(options);
  const log = new SubSessionLog(serverLog, world, () => monitor.wake());
  const monitor: SubSessionMonitor = new SubSessionMonitor({
    log,
    reach: reach?.(ownSessions) ?? ownSessions,
    world,
    settings,
    automatic,
    runOf: (sessionId) => ownSessions.find(sessionId)?.run ?? null,
    isLive,
  });
  const recordSubagent = (orchestratorId: string, parentSessionId: string, subagent: SubagentReport): void => {
    const { childSessionId, phase, text, taskToolId } = subagent;
    const started = { type: "started" as const, childSessionId, parentSessionId, orchestratorId, taskToolId };
    const done = { type: "done" as const, childSessionId, text };
    guarded(() => void log.order(phase === "started" ? started : done));
  };
  return { log, monitor, recordSubagent };
}
