// One turn of a session that a controller runs: what is new in its transcript, and whether the answer is in it.
import type { PolledRecord } from "./polled-journal.ts";
import type { ControllerMessage } from "./session-controller.ts";
import type { SessionSpec, Turn } from "./session.ts";
import { scanBlocks } from "../protocol/response-scanner.ts";
import { ANSWER_PHASE } from "../schema/status.ts";

/** The messages behind the place, each with how many there are up to it. */
export function unread(messages: readonly ControllerMessage[], place: { count: number; key: string | null }) {
  const known = place.key === null ? -1 : messages.findLastIndex(({ key }) => key === place.key);
  // A list that was shortened has new messages only where it grows again.
  const from = known >= 0 ? known + 1 : Math.min(place.count, messages.length);
  return messages.slice(from).map((message, i, rest) => ({
    message,
    count: from + i + 1,
    isLast: i === rest.length - 1,
  }));
}

type Asked = Pick<Extract<PolledRecord, { type: "sending" }>, "phase" | "delimiterStart" | "delimiterEnd">;

/** Whether a whole block of the phase that was asked for is in the text. */
export function holdsAnswer(text: string, { phase, delimiterStart, delimiterEnd }: Asked): boolean {
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
