import type { SendOrder, SteerFlags } from "./steer-commands.ts";
import { readObject } from "../input/read-object.ts";
import { TuttiError } from "../../schema/error.ts";
import type { InboxItem, PersonAnswer } from "../../schema/inbox.ts";

export const answerOrder =
  (text: string | undefined, flags: SteerFlags): SendOrder =>
  async ({ runs, item }) => {
    await runs.answer(item!.id, text === undefined ? answerFrom(item!, text, flags) : readAnswer(item!, text, flags));
  };

/** Items of kind `data` take JSON, unless `isOption`. */
export function readAnswer(item: InboxItem, text: string, flags: SteerFlags = {}): PersonAnswer {
  if (item.kind === "data" && !isOption(item, text)) return { data: readObject("answer", text) };
  return answerFrom(item, text, flags);
}

const isOption = ({ options = [] }: InboxItem, text: string): boolean =>
  options.some((words) => words.toLowerCase() === text.trim().toLowerCase());

/** Takes one of `text`, `--option`, `--approve` and `--reject`; only `--reject` may have a text too. */
function answerFrom(item: InboxItem, text: string | undefined, flags: SteerFlags): PersonAnswer {
  const choices = [flags.option, flags.approve, flags.reject].filter((flag) => flag !== undefined);
  if (text !== undefined && (flags.option !== undefined || flags.approve)) {
    throw new TuttiError("usage", "A text cannot be combined with --option or --approve. Give only one of them.");
  }
  if (choices.length > 1) {
    throw new TuttiError("usage", "--option, --approve and --reject exclude each other. Give only one of them.");
  }
  if (flags.option !== undefined) {
    if (!/^\d+$/.test(flags.option)) {
      const message = `"${flags.option}" is not a valid value of --option. "tutti inbox" lists the numbers.`;
      throw new TuttiError("usage", message);
    }
    return { option: Number(flags.option) };
  }
  if (flags.approve) return { approve: true };
  if (flags.reject) return { approve: false, ...(text === undefined ? {} : { text }) };
  if (text === undefined || text.trim() === "")
    throw new TuttiError("usage", "The answer is empty. Give a text, --option, --approve or --reject.");
  if (item.kind !== "budget" || isOption(item, text)) return { text };
  if (!text.trim().startsWith("{")) {
    throw new TuttiError(
      "usage",
      `"${text}" does not answer a budget request. Give --option, --approve, --reject or JSON such as {"usd": 10}.`,
    );
  }
  return { data: readObject("answer", text) };
}
