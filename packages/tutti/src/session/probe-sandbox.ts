// Whether bubblewrap is there and may do its work: many systems have it and forbid it.
import { probeProgram, runProbe, type ProbeOptions, type ProgramFound } from "./probe-program.ts";

const READ_ONLY = ["--ro-bind", "/", "/"];
/** First the least that it can do, then the separation that a sandbox is about. */
const TRIALS = [
  [...READ_ONLY, "true"],
  [...READ_ONLY, "--unshare-all", "true"],
];

/** Null when there is none; `problem` says what it could not do. */
export async function probeSandbox(options: ProbeOptions): Promise<ProgramFound | null> {
  const found = await probeProgram("bwrap", options);
  if (found === null || found.problem !== null) return found;
  for (const trial of TRIALS) {
    const result = await runProbe(found.path, trial, options);
    if (!result.ok) return { ...found, problem: `bwrap ${trial.join(" ")}: ${result.problem}` };
  }
  return found;
}
