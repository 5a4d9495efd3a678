// The engine's part for sub-sessions: the log of them, who looks after them, and what agents tell of their own.
import { guarded } from "./guarded.ts";
import { OwnSessions, type OwnSessionsOptions } from "./own-sessions.ts";
import type { ServerLog } from "./server-log.ts";
import type { SessionReach } from "./session-reach.ts";
import { SubSessionLog } from "./sub-session-log.ts";
import { SubSessionMonitor, type SubSessionSettings } from "./sub-session-monitor.ts";
import { SubSessionOptions } from "../schema/options.ts";
import type { SessionSignal } from "../session/session.ts";
import type { World } from "../world.ts";

/** How sub-sessions are looked after. */
export interface SubSessionCare {
  settings: SubSessionSettings;
  /** Whether they are looked at without anybody asking for it. */
  automatic: boolean;
  /** Sessions of others too. */
  reach?: (own: OwnSessions) => SessionReach;
}

export interface SubSessionPartOptions extends OwnSessionsOptions {
  log: ServerLog;
  world: World;
  /** Without it by the documented settings, as long as there are any. */
  care: SubSessionCare | undefined;
  isLive: (runId: string) => boolean;
}

export interface SubSessionPart {
  log: SubSessionLog;
  monitor: SubSessionMonitor;
  /** What a session tells of agents of its own is written beside the run, which neither waits for it nor ends by it. */
  told: (runId: string, sessionId: string, told: Subagent) => void;
}

export type Subagent = Extract<SessionSignal, { type: "subagent" }>;

/** Of what an agent tells of agents of its own, so much goes into the log; the transcript has all of it. */
const MAX_NAME = 200;
const MAX_WORDS = 50_000;

export function openSubSessions(options: SubSessionPartOptions): SubSessionPart {
  const { log: serverLog, world, isLive, care } = options;
  const { settings, automatic, reach } = care ?? { settings: SubSessionOptions.parse({}), automatic: true };
  const own = new OwnSessions(options);
  const log = new SubSessionLog(serverLog, world, () => monitor.wake());
  const monitor: SubSessionMonitor = new SubSessionMonitor({
    log,
    reach: reach?.(own) ?? own,
    world,
    settings,
    automatic,
    runOf: (sessionId) => own.find(sessionId)?.run ?? null,
    isLive,
  });
  const told = (orchestratorId: string, parentSessionId: string, { id, phase, text }: Subagent): void => {
    const childSessionId = `${parentSessionId}/${id.slice(0, MAX_NAME)}`;
    const started = { type: "started" as const, childSessionId, parentSessionId, orchestratorId };
    const done = { type: "done" as const, childSessionId, text: text?.slice(0, MAX_WORDS) ?? null };
    guarded(() => void log.order(phase === "started" ? started : done));
  };
  return { log, monitor, told };
}
