// The part of the fold for the messages and the gate of a team.
import { workerOf } from "../lookup.ts";
import { withoutEntries } from "../fold/shared-record.ts";
import { withWorker } from "../fold/with-worker.ts";
import type { LogPosition, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { GateEntry, GateOverride } from "../../schema/team/gate.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";
import type { Owed } from "../../schema/worker.ts";

type MessageEvent = `message:${"queued" | "delivered" | "acknowledged" | "acted" | "rejected"}`;
export type TeamEvent = Extract<
  RunEvent,
  { type: MessageEvent | `gate:${string}` | `blocker:${string}` | "plan:extended" | "task:unblocked" | "task:rejected" }
>;

export function applyToTeam(run: Run, event: TeamEvent & LogPosition): Run {
  const { timestamp: at } = event;
  switch (event.type) {
    case "message:queued": {
      const message: TeamMessage = {
        ...event.data.message,
        state: "queued",
        queuedAt: at,
        deliveredAt: null,
        acknowledgedAt: null,
        actedAt: null,
        deliveries: 0,
      };
      return { ...run, teamMessages: [...(run.teamMessages ?? []), message] };
    }
    case "message:delivered":
      return withMessage(run, event.data.messageId, ({ deliveries }) => ({
        state: "delivered",
        deliveredAt: at,
        deliveries: deliveries + 1,
      }));
    case "message:acknowledged":
      return withMessage(run, event.data.messageId, () => ({ state: "acknowledged", acknowledgedAt: at }));
    case "message:acted":
      return withMessage(run, event.data.messageId, () => ({ state: "acted", actedAt: at }));
    case "message:rejected":
      return withMessage(run, event.data.messageId, () => ({ state: "rejected", reasons: event.data.reasons }));
    case "gate:opened": {
      const { environment, commit, approvedBy, covers } = event.data;
      const opened = { state: "open" as const, commit, approvedBy, approvedAt: at, reasons: [], covers };
      return withGate(run, environment, opened);
    }
    case "gate:closed":
      return withGate(run, event.data.environment, { ...CLOSED, reasons: event.data.reasons });
    case "task:rejected": {
      const { taskId, count } = event.data;
      const worker = workerOf(run, taskId);
      // The session answers the rejection with its next turn.
      return worker ? withWorker(run, taskId, { rejections: count, owed: firstOwed() }) : run;
    }
    // `gate:closed` holds the reasons of a refused review. A refused deployment changes nothing.
    case "gate:refused":
    case "blocker:raised":
    case "blocker:resolved":
      return run;
    case "gate:overridden": {
      const { environment, commit, by, reason, covers, review } = event.data;
      const state = { state: "overridden" as const, commit, approvedBy: by, approvedAt: at, reasons: [reason], covers };
      const overridden = withGate(run, environment, state, [{ by, reason, at, commit }]);
      return review === undefined
        ? overridden
        : { ...overridden, skipped: { ...run.skipped, [review]: { satisfied: true } } };
    }
    case "plan:extended":
      return { ...run, tasks: event.data.tasks, parallelGroups: event.data.parallelGroups };
    case "task:unblocked":
      return { ...run, blocked: withoutEntries(run.blocked, [event.data.taskId]) };
  }
}

const firstOwed = (): Owed => ({
  phase: "workerExecution",
  try: 1,
  problems: [],
  note: null,
  interrupted: false,
  waitsFor: null,
});

const CLOSED = { state: "closed" as const, commit: null, approvedBy: null, approvedAt: null, covers: {} };

function withGate(
  run: Run,
  environment: string,
  entry: Omit<GateEntry, "movedRefs" | "overrides">,
  overridden: GateOverride[] = [],
): Run {
  const movedRefs = run.movedRefs?.length ?? 0;
  const overrides = [...(run.gate?.[environment]?.overrides ?? []), ...overridden];
  return { ...run, gate: { ...run.gate, [environment]: { ...entry, movedRefs, overrides } } };
}

/** A copied or imported log proves no approval: the commit may not exist here, and the log may have been edited. */
export function closeGates(run: Run, reason: string): Run {
  if (!run.gate) return run;
  const closed = Object.entries(run.gate).map(([environment, { overrides }]): [string, GateEntry] => [
    environment,
    { ...CLOSED, reasons: [reason], movedRefs: 0, overrides },
  ]);
  return { ...run, gate: Object.fromEntries(closed) };
}

function withMessage(run: Run, id: string, change: (message: TeamMessage) => Partial<TeamMessage>): Run {
  const teamMessages = (run.teamMessages ?? []).map((message) =>
    message.id === id ? { ...message, ...change(message) } : message,
  );
  return { ...run, teamMessages };
}
