// Creating a run whose template comes from the project itself and would run programs: the person sees which, once.
import { prompt } from "./follow.ts";
import type { Engine, LocalEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";

/** Tells a person how to agree; any other error stays as it is. */
export function withTrustHint(error: unknown): unknown {
  if (!(error instanceof TuttiError) || error.code !== "needs_trust") return error;
  const { hash } = error.details as { hash: string };
  const message = `${error.message}; if you have read that and agree, repeat with --trust ${hash}`;
  return new TuttiError("needs_trust", message, { details: error.details });
}

export async function createTrusted(
  output: Output,
  engine: Engine,
  trusted: LocalEngine["trusted"],
  signal: AbortSignal,
  request: Parameters<Engine["create"]>[0],
): Promise<Run> {
  try {
    return await engine.create(request);
  } catch (error) {
    if (!(error instanceof TuttiError) || error.code !== "needs_trust") throw error;
    const { programs, hash } = error.details as { programs: string[]; hash: string };
    if (!process.stdin.isTTY || !process.stdout.isTTY || output.json) {
      throw withTrustHint(error);
    }
    output.line("The template comes from this project and would run:");
    for (const program of programs) output.line(`  ${program}`);
    const typed = (await prompt("Let it? [y/n] ", signal)).trim().toLowerCase();
    if (typed !== "y" && typed !== "yes") throw error;
    trusted.add(hash);
    return engine.create({ ...request, trust: hash });
  }
}
