// Many systems install bubblewrap but forbid its use, so `probeSandbox` runs it with the options of a session.
import { ISOLATION } from "./sandbox-command.ts";
import { probeProgram, runProbe, type ProbeOptions, type ProgramFound } from "../probe-program.ts";

const TRIALS = [
  [...ISOLATION, "true"],
  [...ISOLATION, "--unshare-net", "true"],
];

/** Null if bubblewrap is not installed; `problem` is the trial that failed. */
export async function probeSandbox(options: ProbeOptions): Promise<ProgramFound | null> {
  const found = await probeProgram("bwrap", options);
  if (found === null || found.problem !== null) return found;
  for (const trial of TRIALS) {
    const result = await runProbe(found.path, trial, options);
    if (!result.ok) return { ...found, problem: `bwrap ${trial.join(" ")}: ${result.problem}` };
  }
  return found;
}

/** `findSandboxProblem` completes a sentence; null if sessions can have a sandbox. */
export async function findSandboxProblem(options: ProbeOptions): Promise<string | null> {
  const found = await probeSandbox(options);
  if (found === null) return "bubblewrap (bwrap) was not found";
  return found.problem && `bubblewrap at ${found.path} does not work: ${found.problem}`;
}
