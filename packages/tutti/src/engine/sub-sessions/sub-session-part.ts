import { guarded } from "../guarded.ts";
import { OwnSessions, type OwnSessionsOptions } from "../sessions/own-sessions.ts";
import type { ServerLog } from "../runs/server-log.ts";
import type { SessionAccess } from "../sessions/session-access.ts";
import { SubSessionLog } from "./sub-session-log.ts";
import { SubSessionMonitor, type SubSessionSettings } from "./sub-session-monitor.ts";
import type { SubagentReport } from "../../run/command.ts";
import { rootOf, type SubSession } from "../../run/fold/sub-sessions.ts";
import { isNatural } from "../../run/rules/natural.ts";
import { reportTo } from "../../run/rules/report-sub-session.ts";
import { DEFAULT_SUB_SESSION_OPTIONS } from "../../schema/options.ts";
import type { Run } from "../../schema/run.ts";
import type { World } from "../../world.ts";

export interface SubSessionCare {
  settings: SubSessionSettings;
  /** Whether the `SubSessionMonitor` polls without an explicit start. */
  automatic: boolean;
  /** Gives `SessionAccess` to more sessions than those of Tutti's runs. */
  reach?: (own: OwnSessions) => SessionAccess;
}

interface SubSessionPartOptions extends OwnSessionsOptions {
  log: ServerLog;
  world: World;
  /** `DEFAULT_SUB_SESSION_OPTIONS` are the defaults. */
  care: SubSessionCare | undefined;
  /** Null unless the run is live. */
  run: (runId: string) => Run | null;
}

export interface SubSessionPart {
  log: SubSessionLog;
  monitor: SubSessionMonitor;
  recordSubagent: (runId: string, sessionId: string, subagent: SubagentReport) => void;
}

export function openSubSessions(options: SubSessionPartOptions): SubSessionPart {
  const { log: serverLog, world, care } = options;
  const { settings, automatic, reach } = care ?? { settings: DEFAULT_SUB_SESSION_OPTIONS, automatic: true };
  const ownSessions = new OwnSessions(options);
  const log: SubSessionLog = new SubSessionLog(serverLog, world, {
    decided: () => monitor.wake(),
    stored: (relation) => informRun(relation),
  });
  const informRun = (relation: SubSession): void => {
    const { orchestratorId, childSessionId } = relation;
    if (orchestratorId === undefined || relation.reported) return;
    const run = options.run(orchestratorId);
    const report = run && reportTo(run, relation, rootOf(log.stored, childSessionId));
    if (report) guarded(() => void options.submit(orchestratorId, report).catch(() => {}));
  };
  const monitor: SubSessionMonitor = new SubSessionMonitor({
    log,
    reach: reach?.(ownSessions) ?? ownSessions,
    world,
    settings,
    automatic,
    runOf: (sessionId) => ownSessions.find(sessionId)?.run ?? null,
    isAlive: (sessionId) => ownSessions.isAlive(sessionId),
    informRun,
    naturalSettings: ({ orchestratorId }) => {
      const run = orchestratorId === undefined ? null : options.run(orchestratorId);
      return run && isNatural(run) ? run.template.config : null;
    },
    isLive: (id) => options.run(id) !== null,
  });
  const recordSubagent = (orchestratorId: string, sessionId: string, subagent: SubagentReport): void => {
    const { childSessionId, phase, text, taskToolId, status } = subagent;
    const parentSessionId = subagent.parentSessionId ?? sessionId;
    const started = { type: "started" as const, childSessionId, parentSessionId, orchestratorId, taskToolId };
    const done = { type: "done" as const, childSessionId, text, status };
    guarded(() => void log.order(phase === "started" ? started : done));
  };
  return { log, monitor, recordSubagent };
}
