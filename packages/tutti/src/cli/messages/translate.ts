import { answerParser, findMessages } from "./find-messages.ts";
import type { TextProblem } from "../../protocol/canonical/check-messages.ts";
import { readSource } from "./message-source.ts";
import type { Output } from "../terminal/output.ts";
import type { Protocol } from "../../protocol/canonical/protocol-name.ts";
import { translate as translateMessage } from "../../protocol/canonical/translate.ts";
import { TuttiError } from "../../schema/error.ts";

interface TranslateFlags {
  from?: Protocol;
  to: Protocol;
}

export async function translate(output: Output, name: string, flags: TranslateFlags): Promise<number> {
  const source = await readSource(name);
  if (source === null) throw new TuttiError("usage", `"${name}" is a folder. Name one file to translate.`);
  const receivedAt = new Date().toISOString();
  const found = findMessages(source.text, name, flags.from, { profile: "lenient", receivedAt });
  const results = found.messages.map(({ path, protocol, value }) => ({
    path,
    from: protocol,
    ...translateMessage(value, protocol, flags.to, receivedAt),
  }));
  const problems: TextProblem[] = [...found.problems, ...results.flatMap((each) => each.problems)];
  const translated = results.flatMap((each) => each.messages);
  const lost = results.flatMap((each) => each.lost);
  const filled = results.flatMap((each) => each.filled);
  output.value({ from: found.protocol, to: flags.to, messages: translated, lost, filled, problems });
  if (translated.length > 0) output.document(wireText(flags.to, translated));
  for (const { path, severity, sentence } of problems) output.warn(`${severity}${at(path)}: ${sentence}`);
  for (const { path, reason } of lost) output.warn(`not carried over${at(path)}: ${reason}`);
  for (const { path, reason } of filled) output.warn(`filled in${at(path)}: ${reason}`);
  const complete = results.length > 0 && results.every((each) => each.messages.length > 0);
  if (results.length === 0) output.warn(`"${name}" contains no message`);
  else if (!complete) output.warn("at least one message could not be translated");
  return complete && !problems.some(({ severity }) => severity === "error") ? 0 : 1;
}

const at = (path: string): string => (path === "" ? "" : ` (${path})`);

/** Formats messages for sending: a block between `delimiterStart` and `delimiterEnd` for `response`, else JSON. */
function wireText(to: Protocol, list: readonly unknown[]): string {
  const { delimiterStart, delimiterEnd } = answerParser;
  if (to !== "response") return JSON.stringify(list.length === 1 ? list[0] : list, null, 2);
  return list.map((each) => `${delimiterStart}\n${JSON.stringify(each, null, 2)}\n${delimiterEnd}`).join("\n\n");
}
