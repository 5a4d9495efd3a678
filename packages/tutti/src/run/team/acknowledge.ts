// A message to a role that is not acknowledged within `ackTimeout` is sent again with the next turn of its session,
// then it expires. Documents 001 and 003 expect an acknowledgement at once.
import { activeWorkers, workerOfSession } from "../lookup.ts";
import { isReceived, messageTo } from "./team.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { DEFAULT_ACK_TIMEOUT_MS, DEFAULT_RESEND_LIMIT } from "../../schema/team/roles.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";

const about = (run: Run, { id, taskId }: TeamMessage) => ({ id: run.id, messageId: id, taskId });

/** Messages in a running turn without an answer. */
function unacknowledged(run: Run): TeamMessage[] {
  if (run.template.roles === undefined) return [];
  return activeWorkers(run).flatMap((worker) => {
    const message = worker.status === "running" && !worker.awaits ? messageTo(run, worker.sessionId) : null;
    // Document 002 knows no acknowledgement.
    const isExpected = message?.state === "delivered" && message.protocol !== "delegation";
    return isExpected && message.acknowledgedAt === null ? [message] : [];
  });
}

const dueAt = ({ template }: Run, { deliveredAt }: TeamMessage): number =>
  deliveredAt! + (template.team?.ackTimeout ?? DEFAULT_ACK_TIMEOUT_MS);

export const acknowledgementTimes = (run: Run): number[] => unacknowledged(run).map((message) => dueAt(run, message));

/**
 * Overdue messages are sent again up to `resendLimit`, then they expire. Messages to a session that ended expire, too.
 */
export function followMessages(run: Run, at: number): RunEvent[] {
  if (run.template.roles === undefined && run.teamMessages === undefined) return [];
  const { resendLimit = DEFAULT_RESEND_LIMIT } = run.template.team ?? {};
  const overdue = unacknowledged(run).filter((message) => dueAt(run, message) <= at);
  const events = overdue.map((message): RunEvent =>
    message.deliveries <= resendLimit
      ? { type: "message:resent", data: { ...about(run, message), after: at - message.deliveredAt! } }
      : {
          type: "message:expired",
          data: { ...about(run, message), reason: sentence("It was not acknowledged in time.") },
        },
  );
  return [...events, ...expireUndelivered(run)];
}

function expireUndelivered(run: Run): RunEvent[] {
  const open = (run.teamMessages ?? []).filter(
    (message) =>
      ["queued", "delivered"].includes(message.state) && isReceived(message) && isOver(run, message.sessionId),
  );
  const reason = sentence("The session that it was sent to has ended.");
  return open.map((message) => ({ type: "message:expired", data: { ...about(run, message), reason } }));
}

function isOver(run: Run, sessionId: string): boolean {
  const worker = workerOfSession(run, sessionId);
  return worker === undefined || worker.sessionId !== sessionId || worker.session.state === "over";
}

/** The role acknowledged `messageTo` its session, in its text or by reading its mailbox. */
export function acknowledge(run: Run, sessionId: string): RunEvent[] {
  const message = messageTo(run, sessionId);
  const isOpen = message !== null && message.acknowledgedAt === null && ["queued", "delivered"].includes(message.state);
  return isOpen ? [{ type: "message:acknowledged", data: about(run, message) }] : [];
}
