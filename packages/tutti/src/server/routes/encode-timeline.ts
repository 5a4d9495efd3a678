import { iso } from "./encode-run.ts";
import { findRefusals } from "../../engine/runs/find-refusals.ts";
import type { RunTimeline } from "../../schema/api/run-values.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Phase } from "../../schema/status.ts";

type Session = RunTimeline["sessions"][number];

/** Events that end a session. `RUN_ENDS` end every session that is still open, such as the main session. */
const SESSION_ENDS = new Set<StoredEvent["type"]>([
  "worker:completed",
  "worker:failed",
  "worker:timeout",
  "worker:cancelled",
  "worker:lost",
  "main:lost",
  "main:relieved",
]);
const RUN_ENDS = new Set<StoredEvent["type"]>(["orchestrator:completed", "orchestrator:cancelled"]);

/** `read` is called again for the waits for a provider, which follow from the folded states. */
export function encodeTimeline(read: () => Iterable<StoredEvent>): RunTimeline {
  const phases: RunTimeline["phases"] = [];
  const pauses: RunTimeline["pauses"] = [];
  const waits = new Map<string, RunTimeline["waits"][number]>();
  const sessions = new Map<string, Session>();
  const enter = (phase: Phase, at: string) => {
    // One phase can span several statuses, so `orchestrator:phaseChanged` may repeat it.
    const last = phases.at(-1);
    if (last?.phase === phase && last.endedAt === null) return;
    closeLast(phases, at);
    phases.push({ phase, startedAt: at, endedAt: null });
  };
  const leave = (session: Session | undefined, ending: string, at: string) => {
    if (!session || session.endedAt !== null) return;
    Object.assign(session, { endedAt: at, ending });
    closeLast(session.turns, at);
  };
  let isRefused = false;
  for (const event of read()) {
    const at = iso(event.timestamp);
    switch (event.type) {
      case "orchestrator:started":
      case "orchestrator:reopened":
        enter(event.data.phase, at);
        break;
      case "orchestrator:phaseChanged":
        enter(event.data.currentPhase, at);
        break;
      case "orchestrator:paused":
        pauses.push({ reason: event.data.reason, startedAt: at, endedAt: null });
        break;
      case "orchestrator:resumed":
        closeLast(pauses, at);
        break;
      case "main:spawning":
      case "worker:spawning": {
        const { sessionId, taskId, attempt } = event.data;
        const open = { startedAt: at, endedAt: null, ending: null, turns: [], refusals: [] };
        sessions.set(sessionId, { sessionId, taskId, attempt, ...open });
        break;
      }
      case "turn:started": {
        const { sessionId, turn, phase } = event.data;
        sessions.get(sessionId)?.turns.push({ turn, phase, startedAt: at, endedAt: null });
        break;
      }
      case "turn:ended":
        closeLast(sessions.get(event.data.sessionId)?.turns ?? [], at);
        break;
      case "provider:refused":
        isRefused = true;
        break;
      case "inbox:added": {
        const { id: itemId, kind, taskId, sessionId } = event.data.item;
        waits.set(itemId, { itemId, kind, taskId, sessionId, startedAt: at, endedAt: null });
        break;
      }
      case "inbox:answered": {
        const wait = waits.get(event.data.itemId);
        if (wait) wait.endedAt ??= at;
        break;
      }
      default:
        if (SESSION_ENDS.has(event.type) && "sessionId" in event.data) {
          leave(sessions.get(event.data.sessionId), event.type, at);
        }
        if (RUN_ENDS.has(event.type) || (event.type === "orchestrator:error" && event.data.fatal)) {
          for (const list of [phases, pauses]) closeLast(list, at);
          for (const session of sessions.values()) leave(session, event.type, at);
        }
    }
  }
  for (const { sessionId, startedAt, endedAt } of isRefused ? findRefusals(read()) : [])
    sessions
      .get(sessionId)
      ?.refusals.push({ startedAt: iso(startedAt), endedAt: endedAt === null ? null : iso(endedAt) });
  return { phases, pauses, waits: [...waits.values()], sessions: [...sessions.values()] };
}

function closeLast(list: { endedAt: string | null }[], at: string): void {
  const last = list.at(-1);
  if (last) last.endedAt ??= at;
}
