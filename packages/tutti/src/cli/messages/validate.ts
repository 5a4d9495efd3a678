import { findMessages } from "./find-messages.ts";
import { readSources, type MessageSource } from "./message-source.ts";
import type { Output } from "../terminal/output.ts";
import { checkMessages, type TextProblem } from "../../protocol/canonical/check-messages.ts";
import type { Protocol } from "../../protocol/canonical/protocol-name.ts";
import type { ProfileOptions } from "../../protocol/response/profile.ts";

interface ValidateFlags {
  protocol?: Protocol;
  lenient?: boolean;
}

interface CheckedFile {
  file: string;
  valid: boolean;
  protocol: Protocol | null;
  messages: number;
  problems: TextProblem[];
}

export async function validate(output: Output, names: string[], flags: ValidateFlags): Promise<number> {
  const options: ProfileOptions = {
    profile: flags.lenient ? "lenient" : "strict",
    receivedAt: new Date().toISOString(),
  };
  const files: CheckedFile[] = [];
  const skipped: string[] = [];
  for await (const source of readSources(names)) {
    const checked = check(source, flags.protocol, options);
    // `check` returns null for an unrelated file within a folder, which is not an invalid message.
    if (checked === null) skipped.push(source.name);
    else {
      files.push(checked);
      show(output, checked);
    }
  }
  const valid = files.every((file) => file.valid);
  output.value({ valid, files, skipped });
  const wrong = files.filter((file) => !file.valid).length;
  const others = skipped.length === 0 ? "" : `, ${skipped.length} without messages`;
  output.line(`${files.length} checked, ${wrong} with problems${others}`);
  return valid ? 0 : 1;
}

function check(source: MessageSource, expected: Protocol | undefined, options: ProfileOptions): CheckedFile | null {
  const found = findMessages(source.text, source.name, expected, options);
  const isUnknown = found.messages.length === 0 && found.protocol === null;
  if (source.isFound && isUnknown && !isBroken(found.problems, source.name)) return null;
  const all = [...found.problems, ...checkMessages(found.messages, options)];
  return {
    file: source.name,
    valid: !all.some(({ severity }) => severity === "error"),
    protocol: found.protocol,
    messages: found.messages.length,
    problems: all,
  };
}

/** A `.json` file that is not JSON may be a truncated message, so it counts as invalid. */
const isBroken = (problems: readonly TextProblem[], name: string): boolean =>
  name.endsWith(".json") && problems.some(({ code }) => ["not_json", "not_text", "empty"].includes(code));

function show(output: Output, { file, valid, protocol, messages: count, problems }: CheckedFile): void {
  const what = protocol === null ? "" : ` (${protocol}, ${count === 1 ? "1 message" : `${count} messages`})`;
  output.result(`${file}: ${valid ? "valid" : "not valid"}${what}`);
  for (const { path, severity, sentence } of problems) {
    output.result(`  ${severity}${path === "" ? "" : ` at ${path}`}: ${sentence}`);
  }
}
