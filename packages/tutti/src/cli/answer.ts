// `tutti answer`: what an agent wanted to know.
import type { AttachFlags } from "./attach.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import { TuttiError } from "../schema/error.ts";
import type { PersonAnswer } from "../schema/inbox.ts";

export interface AnswerFlags extends AttachFlags {
  option?: string;
  approve?: boolean;
  reject?: boolean;
}

export async function answer(
  output: Output,
  itemId: string,
  text: string | undefined,
  flags: AnswerFlags,
): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    const item = engine
      .summaries()
      .flatMap(({ inbox }) => inbox)
      .find(({ id }) => id === itemId);
    if (!item) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
    if (item.kind === "data") await engine.supply(itemId, readJson(text ?? ""));
    else await engine.answer(itemId, answerFrom(item.kind, text, flags));
    await engine.takeUp(item.run);
    return follow({
      engine,
      output,
      id: item.run,
      signal,
      yes: false,
      allowDegraded: flags.allowDegraded ?? false,
      start: false,
    });
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
  if (kind === "budget") return { data: readJson(text) as Record<string, unknown> };
  return { text };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TuttiError("invalid_input", `what is wanted is data in JSON: ${(error as Error).message}`);
  }
}
