// A turn that ends with a question is neither complete nor failed: `askUser` passes the question to the user.
import type { TurnOver } from "../command.ts";
import { addItem } from "./inbox.ts";
import { sentence } from "../../sentence.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

export function askUser(run: Run, taskId: string | null, sessionId: string, over: TurnOver, at: number): RunEvent {
  const { answerTimeout } = run.template.config;
  const expires = answerTimeout === undefined ? {} : { expiresAt: at + answerTimeout, default: NO_ANSWER };
  const item = { id: over.itemId, kind: "question" as const, taskId, sessionId, question: over.question! };
  return addItem(run, { ...item, ...expires }, at);
}

/** The agent receives `NO_ANSWER` if the user gives none within `answerTimeout`. */
export const NO_ANSWER = sentence(
  "The user did not answer in time. Choose the safest option yourself and state your assumptions.",
);
