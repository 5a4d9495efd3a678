import { spawnSync } from "node:child_process";
import { withProgram, type RequiredProgram } from "../lab/required-program.ts";

export const STRACE: RequiredProgram = {
  name: "strace",
  packages: ["strace"],
  find: () => (works() ? "strace" : null),
  advice: "strace does not work here. Install it on the PATH, and allow processes to be traced.",
};

/** A container may have strace but forbid tracing. */
const works = (): boolean =>
  spawnSync("strace", ["-f", "-y", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true"]).status === 0;

export const withStrace = (act: () => Promise<void>) => withProgram(STRACE, act);
