import type { PolledRecord } from "./polled-journal.ts";
import type { ControllerMessage } from "./session-controller.ts";
import type { SessionSpec, Turn } from "../session.ts";
import { scanBlocks } from "../../protocol/response/response-scanner.ts";
import { ANSWER_PHASE } from "../../schema/status.ts";

/** The messages after `place`. `count` is the number of messages up to and including each. */
export function unread(messages: readonly ControllerMessage[], place: { count: number; key: string | null }) {
  const lastRead = place.key === null ? -1 : messages.findLastIndex(({ key }) => key === place.key);
  // A transcript that became shorter has no new messages until it grows again.
  const from = lastRead >= 0 ? lastRead + 1 : Math.min(place.count, messages.length);
  return messages.slice(from).map((message, i, rest) => ({
    message,
    count: from + i + 1,
    isLast: i === rest.length - 1,
  }));
}

export type ExpectedAnswer = Pick<
  Extract<PolledRecord, { type: "sending" }>,
  "phase" | "delimiterStart" | "delimiterEnd"
>;

/** `holdsAnswer` needs a complete block of the turn's phase. */
export function holdsAnswer(text: string, { phase, delimiterStart, delimiterEnd }: ExpectedAnswer): boolean {
  if (!text.includes(delimiterEnd)) return false;
  return scanBlocks(text, { delimiterStart, delimiterEnd }).some(
    (block) => block.ok && block.phase === ANSWER_PHASE[phase],
  );
}

export const title = ({ taskId }: Pick<SessionSpec, "taskId">, { variables }: Turn): string =>
  taskId === null
    ? `[Orchestrator] ${variables["TEMPLATE_NAME"] ?? ""}`.trimEnd()
    : `[Worker] ${variables["TASK_TITLE"] ?? taskId}`;

export const badge = ({ variables }: Turn): string =>
  `🎭 **ORCHESTRATOR MODE** - ${variables["TEMPLATE_NAME"] ?? ""}`.trimEnd();
