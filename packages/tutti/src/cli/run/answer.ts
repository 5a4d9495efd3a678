// `tutti answer`: answers an inbox item and follows its run.
import type { AttachFlags } from "./attach.ts";
import { findItem } from "../access/find-run.ts";
import { watch } from "./watch.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";
import { TuttiError } from "../../schema/error.ts";
import type { PersonAnswer } from "../../schema/inbox.ts";

export interface AnswerFlags extends AttachFlags {
  option?: string;
  approve?: boolean;
  reject?: boolean;
}

export async function answer(
  output: Output,
  idPrefix: string,
  text: string | undefined,
  flags: AnswerFlags,
): Promise<number> {
  return withRuns(
    output,
    async (runs, signal) => {
      const item = findItem(await runs.inbox(), idPrefix);
      const content = item.kind === "data" ? { data: readJson(text ?? "") } : answerFrom(item.kind, text, flags);
      await runs.orders.answer(item.id, content);
      await runs.takeUp(item.run);
      const { allowDegraded = false } = flags;
      return watch({ runs, output, id: item.run, signal, yes: false, allowDegraded, start: false });
    },
    flags.agentEnv,
  );
}

/** Takes one of text, `--option`, `--approve` and `--reject`; only `--reject` may have a text too. */
function answerFrom(kind: string, text: string | undefined, flags: AnswerFlags): PersonAnswer {
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
  if (kind === "budget" && !text.trim().startsWith("{")) {
    throw new TuttiError(
      "usage",
      `"${text}" does not answer a budget request. Give --option, --approve, --reject or JSON such as {"usd": 10}.`,
    );
  }
  if (kind === "budget") return { data: readJson(text) };
  return { text };
}

function readJson(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TuttiError(
      "invalid_input",
      `The answer is not valid JSON (${(error as Error).message}). Give one JSON object.`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TuttiError("invalid_input", "The answer is not a JSON object. Give one JSON object.");
}
