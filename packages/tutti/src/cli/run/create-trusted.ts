import type { Output } from "../terminal/output.ts";
import { isTerminal, prompt } from "../terminal/ask.ts";
import type { RunRequest, RunAccess } from "../access/runs.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { TuttiError } from "../../schema/error.ts";

/** Adds the `--trust` flag to the message of a `needs_trust` error; returns other errors unchanged. */
export function withTrustHint(error: unknown): unknown {
  if (!(error instanceof TuttiError) || error.code !== "needs_trust") return error;
  const { hash } = error.details as { hash: string };
  const message = `${error.message.replace(/\.$/, "")}. If you agree to that, repeat with --trust ${hash}.`;
  return new TuttiError("needs_trust", message, { details: error.details });
}

/** If files of the project would start `programs`, the user must agree to them once. */
export async function createTrusted(
  output: Output,
  runs: RunAccess,
  signal: AbortSignal,
  request: RunRequest,
): Promise<string> {
  try {
    return await runs.create(request);
  } catch (thrown) {
    const error = toTuttiError(thrown);
    if (error.code !== "needs_trust") throw error;
    const { programs, hash } = error.details as { programs: string[]; hash: string };
    if (!isTerminal(output)) throw withTrustHint(error);
    output.line("Files of this project need your consent to these programs and settings:");
    for (const program of programs) output.line(`  ${program}`);
    const reply = (await prompt("Allow them? [y/N] ", signal)).trim().toLowerCase();
    if (reply !== "y" && reply !== "yes") throw error;
    runs.agree(hash);
    return runs.create({ ...request, trust: hash });
  }
}
