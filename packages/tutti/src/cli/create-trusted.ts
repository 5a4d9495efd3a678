// Creating a run whose template comes from the project itself and would run programs: the person sees which, once.
import type { Output } from "./output.ts";
import { isTerminal, prompt } from "./prompt.ts";
import type { NewRun, Runs } from "./runs.ts";
import { toTuttiError } from "./to-tutti-error.ts";
import { TuttiError } from "../schema/error.ts";

/** Tells a person how to agree; any other error stays as it is. */
export function withTrustHint(error: unknown): unknown {
  if (!(error instanceof TuttiError) || error.code !== "needs_trust") return error;
  const { hash } = error.details as { hash: string };
  const message = `${error.message}; if you have read that and agree, repeat with --trust ${hash}`;
  return new TuttiError("needs_trust", message, { details: error.details });
}

export async function createTrusted(output: Output, runs: Runs, signal: AbortSignal, request: NewRun): Promise<string> {
  try {
    return await runs.create(request);
  } catch (thrown) {
    const error = toTuttiError(thrown);
    if (error.code !== "needs_trust") throw error;
    const { programs, hash } = error.details as { programs: string[]; hash: string };
    if (!isTerminal(output)) throw withTrustHint(error);
    output.line("The project's own files would run:");
    for (const program of programs) output.line(`  ${program}`);
    const typed = (await prompt("Let them? [y/n] ", signal)).trim().toLowerCase();
    if (typed !== "y" && typed !== "yes") throw error;
    runs.agree(hash);
    return runs.create({ ...request, trust: hash });
  }
}
