// `applyToTeam` is the part of the fold for the messages and the gate of a team.
import { workerOf } from "../lookup.ts";
import { FOREIGN_CHANGE_OPTIONS } from "../plan/foreign-change-options.ts";
import { isLedByDelegation } from "./delegation.ts";
import { firstAsking } from "../fold/first-asking.ts";
import { withoutEntries } from "../fold/shared-record.ts";
import { withWorker } from "../fold/with-worker.ts";
import type { LogPosition, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { gateEntry, type GateEntry, type GateOverride } from "../../schema/team/gate.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { LeadDuty, ParentDuty, Worker } from "../../schema/worker.ts";

type MessageEvent = `message:${"queued" | "delivered" | "acknowledged" | "resent" | "expired" | "acted" | "rejected"}`;
type TeamEvent = Extract<
  RunEvent,
  {
    type:
      | MessageEvent
      | `gate:${string}`
      | `blocker:${string}`
      | `lead:${string}`
      | "breaker:open"
      | "task:submitted"
      | "task:overdue"
      | "task:approved"
      | "task:delegating"
      | "criterion:judged"
      | "plan:extended"
      | "task:unblocked"
      | "task:rejected";
  }
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
    // The next turn delivers it again.
    case "message:resent":
      return withMessage(run, event.data.messageId, () => ({ state: "queued" }));
    case "message:expired":
      return withMessage(run, event.data.messageId, () => ({ state: "expired", reasons: [event.data.reason] }));
    case "message:acted":
      return withMessage(run, event.data.messageId, () => ({ state: "acted", actedAt: at }));
    case "message:rejected":
      return withMessage(run, event.data.messageId, () => ({ state: "rejected", reasons: event.data.reasons }));
    case "gate:opened": {
      const { environment, commit, approvedBy, covers } = event.data;
      // The gate opens only after every refusal was settled (`refusalsBeside`).
      const opened = { state: "open" as const, commit, approvedBy, approvedAt: at, reasons: [], covers, refusedBy: [] };
      return withGate(run, environment, opened);
    }
    case "gate:closed": {
      const { environment, reasons, review } = event.data;
      const refusedBy = new Set([...refusalsIn(run, environment), ...(review === undefined ? [] : [review])]);
      return withGate(run, environment, { ...CLOSED, reasons, refusedBy: [...refusedBy] });
    }
    case "task:submitted": {
      const { taskId, messageId, body, work } = event.data;
      return awaitLead(run, taskId, { kind: "verdict", messageId, body, since: at, work });
    }
    case "task:overdue":
      return withWorker(run, event.data.taskId, { overdue: { deadline: event.data.deadline } });
    case "blocker:raised": {
      const { taskId, messageId = "", body = {}, itemId, cause } = event.data;
      if (cause === "interface")
        return withWorker(run, taskId, { foreignChange: { itemId: itemId!, isAllowed: false } });
      if (cause === "deadline") {
        const { deadline } = workerOf(run, taskId)!.overdue!;
        return withWorker(run, taskId, { overdue: { deadline, itemId: itemId! } });
      }
      // With an `itemId` the user answers the blocker, and the inbox item makes the session wait.
      if (itemId !== null) return workerOf(run, taskId)?.awaits ? release(run, taskId, at, {}) : run;
      return awaitLead(run, taskId, { kind: "resolution", messageId, body, since: at });
    }
    case "blocker:resolved": {
      const { itemId, taskId, decision, requirements } = event.data;
      if (itemId === null) return release(withRequirements(run, taskId, requirements), taskId, at, {});
      if (workerOf(run, taskId)?.foreignChange?.itemId !== itemId) return run;
      const isAllowed = decision === FOREIGN_CHANGE_OPTIONS[0];
      return withWorker(run, taskId, { foreignChange: { itemId, isAllowed }, ...(isAllowed ? {} : { commit: null }) });
    }
    case "lead:asked": {
      const { taskId, sessionId, messageId, parent } = event.data;
      if (parent !== undefined) return askParent(run, parent, { taskId, sessionId, messageId }, at);
      // A lead that does not delegate is asked about a worker that waits for it, not about a message (`messageId`).
      const returned = isLedByDelegation(run) ? { messageId } : {};
      return { ...run, duty: { taskId, sessionId, ...returned }, owed: firstAsking("workerExecution") };
    }
    case "lead:answered":
      if (event.data.parent !== undefined) return withWorker(run, event.data.parent, { duty: null });
      return { ...run, duty: null, owed: null };
    case "lead:completed":
      return { ...run, leadReport: { summary: event.data.summary } };
    case "task:delegating":
      return withWorker(run, event.data.taskId, {
        delegating: { since: at },
        owed: { ...firstAsking("workerExecution"), waitsFor: "delegation" },
      });
    // The session answers the rejection with its next turn.
    case "task:rejected":
      return release(run, event.data.taskId, at, { rejections: event.data.count });
    // `gate:closed` holds the reasons of a refused review. A refused deployment changes nothing.
    case "gate:refused":
    case "task:approved":
    case "criterion:judged":
      return run;
    case "gate:overridden": {
      const { environment, commit, by, reason, covers, review } = event.data;
      const refusedBy = refusalsIn(run, environment);
      const entry = { commit, approvedBy: by, approvedAt: at, reasons: [reason], covers, refusedBy };
      const overridden = withGate(run, environment, { state: "overridden", ...entry }, [{ by, reason, at, commit }]);
      return review === undefined
        ? overridden
        : { ...overridden, skipped: { ...run.skipped, [review]: { satisfied: true } } };
    }
    // After a resume the count starts again.
    case "breaker:open":
      return { ...run, failures: null };
    case "plan:extended":
      return { ...run, tasks: event.data.tasks, parallelGroups: event.data.parallelGroups };
    case "task:unblocked":
      return { ...run, blocked: withoutEntries(run.blocked, [event.data.taskId]) };
  }
}

/** Counts `failures` of the same kind in a row. Only a continuous run reads them. */
export function countFailures(run: Run, event: RunEvent): Run {
  if (run.template.team?.continuous !== true) return run;
  if (event.type === "worker:completed") return { ...run, failures: null };
  if (event.type !== "worker:failed" && event.type !== "worker:timeout") return run;
  const { code, error } = event.data;
  const count = run.failures?.code === code ? run.failures.count + 1 : 1;
  return { ...run, failures: { code, count, error } };
}

/**
 * The session continues with the report of a task that it delegated. Its wait (`delegating`) does not count against its
 * deadline.
 */
function askParent(run: Run, parent: string, duty: ParentDuty, at: number): Run {
  const worker = workerOf(run, parent);
  if (!worker) return run;
  const waited = worker.delegating ? at - worker.delegating.since : 0;
  const session = { ...worker.session, waitedMs: worker.session.waitedMs + waited };
  return withWorker(run, parent, { session, duty, delegating: null, owed: firstAsking("workerExecution") });
}

/** `waitsFor` keeps the session from getting a turn before the lead has answered. */
function awaitLead(run: Run, taskId: string, awaits: LeadDuty): Run {
  const owed = { ...firstAsking("workerExecution"), waitsFor: awaits.messageId };
  return withWorker(run, taskId, { awaits, owed });
}

/** The session may continue. Its wait for the lead (`awaits`) does not count against its deadline. */
function release(run: Run, taskId: string, at: number, patch: Partial<Worker>): Run {
  const worker = workerOf(run, taskId);
  if (!worker) return run;
  const waited = worker.awaits ? at - worker.awaits.since : 0;
  const session = { ...worker.session, waitedMs: worker.session.waitedMs + waited };
  return withWorker(run, taskId, { ...patch, session, awaits: null, owed: firstAsking("workerExecution") });
}

/** The verdict on the task and its next attempt follow the new requirements. */
function withRequirements(run: Run, taskId: string, requirements: string[] | undefined): Run {
  const worker = workerOf(run, taskId);
  if (!worker || requirements === undefined) return run;
  const tasks = run.tasks.map((task) => (task.id === taskId ? { ...task, requirements } : task));
  return withWorker({ ...run, tasks }, taskId, { task: { ...worker.task, requirements } });
}

/** With an `itemId` the user gives the verdict instead of the main session. */
export function leaveToUser(run: Run, { id, taskId }: InboxItem): Run {
  const awaits = taskId === null ? null : workerOf(run, taskId)?.awaits;
  return awaits ? withWorker(run, taskId!, { awaits: { ...awaits, itemId: id } }) : run;
}

/** A worker that was cancelled, lost or replaced needs no answer any more. */
export function dropDuty(run: Run): Run {
  if (!run.duty) return run;
  const worker = workerOf(run, run.duty.taskId);
  const isSame = (worker?.sessionId ?? "") === run.duty.sessionId;
  const isDue = isSame && (run.duty.messageId !== undefined || worker?.awaits);
  return isDue ? run : { ...run, duty: null, owed: null };
}

const refusalsIn = (run: Run, environment: string): string[] => gateEntry(run, environment)?.refusedBy ?? [];

const CLOSED = { state: "closed" as const, commit: null, approvedBy: null, approvedAt: null, covers: {} };

function withGate(
  run: Run,
  environment: string,
  entry: Omit<GateEntry, "movedRefs" | "overrides">,
  overridden: GateOverride[] = [],
): Run {
  const movedRefs = run.movedRefs?.length ?? 0;
  const overrides = [...(gateEntry(run, environment)?.overrides ?? []), ...overridden];
  return { ...run, gate: { ...run.gate, [environment]: { ...entry, movedRefs, overrides } } };
}

/** A copied or imported log proves no approval: the commit may not exist here, and the log may have been edited. */
export function closeGates(run: Run, reason: string): Run {
  if (!run.gate) return run;
  const closed = Object.entries(run.gate).map(([environment, { overrides, refusedBy = [] }]): [string, GateEntry] => [
    environment,
    { ...CLOSED, reasons: [reason], movedRefs: 0, overrides, refusedBy },
  ]);
  return { ...run, gate: Object.fromEntries(closed) };
}

function withMessage(run: Run, id: string, change: (message: TeamMessage) => Partial<TeamMessage>): Run {
  const teamMessages = (run.teamMessages ?? []).map((message) =>
    message.id === id ? { ...message, ...change(message) } : message,
  );
  return { ...run, teamMessages };
}
