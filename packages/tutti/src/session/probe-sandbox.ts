// Many systems install bubblewrap but forbid its use, so `probeSandbox` runs it.
import { probeProgram, runProbe, type ProbeOptions, type ProgramFound } from "./probe-program.ts";

const READ_ONLY = ["--ro-bind", "/", "/"];
/** A bind mount alone, then with all namespaces separated. */
const TRIALS = [
  [...READ_ONLY, "true"],
  [...READ_ONLY, "--unshare-all", "true"],
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
