// An agent that ends its turn with a question instead of an answer is not done, and has not failed: a person is asked.
import type { TurnOver } from "./command.ts";
import { addItem } from "./inbox.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";

export function askPerson(run: Run, taskId: string | null, sessionId: string, over: TurnOver, at: number): RunEvent {
  const { answerTimeout } = run.template.config;
  const expires = answerTimeout === undefined ? {} : { expiresAt: at + answerTimeout, default: NO_ANSWER };
  const item = { id: over.itemId, kind: "question" as const, taskId, sessionId, question: over.question! };
  return addItem(run, { ...item, ...expires }, at);
}

/** What an agent is told when nobody has answered it. */
export const NO_ANSWER = "Nobody answered in time. Decide by yourself what is safest, and say what you assumed.";
