// `tutti answer`: what an agent wanted to know.
import type { AttachFlags } from "./attach.ts";
import { findItem } from "./find-run.ts";
import { follow } from "./follow.ts";
import type { Output } from "./output.ts";
import { steer } from "./steer.ts";
import { TuttiError } from "../schema/error.ts";
import type { PersonAnswer } from "../schema/inbox.ts";

export interface AnswerFlags extends AttachFlags {
  option?: string;
  approve?: boolean;
  reject?: boolean;
}

export async function answer(
  output: Output,
  typed: string,
  text: string | undefined,
  flags: AnswerFlags,
): Promise<number> {
  return steer(output, flags.agentEnv, async (runs, signal) => {
    const item = findItem(await runs.inbox(), typed);
    const given = item.kind === "data" ? { data: readJson(text ?? "") } : answerFrom(item.kind, text, flags);
    await runs.answer(item.id, given);
    await runs.takeUp(item.run);
    const { allowDegraded = false } = flags;
    return follow({ runs, output, id: item.run, signal, yes: false, allowDegraded, start: false });
  });
}

/** One of: words, the number of an option, yes, no, or no with words. A budget is given in JSON. */
function answerFrom(kind: string, text: string | undefined, flags: AnswerFlags): PersonAnswer {
  const given = [flags.option, flags.approve, flags.reject].filter((flag) => flag !== undefined);
  if (text !== undefined && (flags.option !== undefined || flags.approve)) {
    throw new TuttiError("usage", "either words, or --option or --approve, not both");
  }
  if (given.length > 1) throw new TuttiError("usage", "one of --option, --approve and --reject, not several");
  if (flags.option !== undefined) {
    if (!/^\d+$/.test(flags.option)) throw new TuttiError("usage", `--option takes a number, not ${flags.option}`);
    return { option: Number(flags.option) };
  }
  if (flags.approve) return { approve: true };
  if (flags.reject) return { approve: false, ...(text === undefined ? {} : { text }) };
  if (text === undefined || text.trim() === "")
    throw new TuttiError("usage", "say the answer, or use --option, --approve or --reject");
  if (kind === "budget" && !text.trim().startsWith("{")) {
    throw new TuttiError(
      "usage",
      'a budget is answered with --option, --approve, --reject or JSON such as {"usd": 10}',
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
    throw new TuttiError("invalid_input", `what is wanted is data in JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TuttiError("invalid_input", "what is wanted is an object in JSON");
}
