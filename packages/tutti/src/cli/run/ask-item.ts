import { readAnswer } from "./answer.ts";
import type { LiveRun, RunAccess } from "../access/runs.ts";
import type { UserDialogue } from "../terminal/dialogue.ts";
import type { Output } from "../terminal/output.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { TuttiError } from "../../schema/error.ts";
import type { InboxItem, PersonAnswer } from "../../schema/inbox.ts";

export interface AskOptions {
  runs: RunAccess;
  live: LiveRun;
  output: Output;
  dialogue: UserDialogue;
}

export const asker = ({ taskId, kind }: InboxItem): string =>
  kind === "budget" ? "the budget" : (taskId ?? "the main session");

/** Asks until the item is answered, here or elsewhere. Returns false if the user closes the question with Escape. */
export async function askItem({ runs, live, output, dialogue }: AskOptions, item: InboxItem): Promise<boolean> {
  const isOpen = () => live.run.inbox[item.id] !== undefined;
  const answered = live.until(({ inbox }) => inbox[item.id] === undefined);
  // `askLine` rejects with `answered`; between two questions a rejection must not end the process as unhandled.
  answered.catch(() => {});
  output.result(`${asker(item)} asks: ${item.question}`);
  for (const [i, option] of (item.options ?? []).entries()) output.result(`  ${i}  ${option}`);
  while (isOpen()) {
    const reply = await dialogue.askLine("> ", answered);
    if (reply === null) return !isOpen();
    try {
      await runs.answer(item.id, answerOf(item, reply.trim()));
      await answered;
    } catch (thrown) {
      const error = toTuttiError(thrown);
      // `item_not_found`: another terminal may have answered first.
      if (error.code !== "item_not_found" && error.kind.exit !== 2) throw error;
      if (isOpen()) output.error(error);
    }
  }
  return true;
}

function answerOf(item: InboxItem, reply: string): PersonAnswer {
  const { options } = item;
  const option = /^\d+$/.test(reply) ? Number(reply) : -1;
  if (options?.[option] !== undefined) return { option };
  if (reply !== "") return readAnswer(item, reply);
  throw new TuttiError(
    "usage",
    `The answer is empty. Type ${options ? `a number from 0 to ${options.length - 1}` : "an answer"}.`,
  );
}
