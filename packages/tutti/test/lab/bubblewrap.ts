import { spawnSync } from "node:child_process";
import { withProgram, type RequiredProgram } from "./required-program.ts";

export const BUBBLEWRAP: RequiredProgram = {
  name: "bubblewrap",
  packages: ["bubblewrap"],
  find: () => (works() ? "bwrap" : null),
  advice: "bubblewrap does not work here. Install it on the PATH, and allow user namespaces.",
};

/** A container may have bubblewrap but forbid namespaces. */
const works = (): boolean =>
  spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]).status === 0;

export const withBubblewrap = (act: () => Promise<void>) => withProgram(BUBBLEWRAP, act);
