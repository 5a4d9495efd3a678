import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const LAUNCHER = join(import.meta.dirname, "../../bin/tutti.js");

/** Starts a command line of Tutti on a terminal of its own. Its exit code is the command's. */
export function onTerminal(args: string[]): ChildProcessByStdio<Writable, Readable, null> {
  // `exec`, because a shell in between would get the Ctrl-C too, and some shells then end with 130 by themselves.
  const command = ["exec", process.execPath, LAUNCHER, ...args].join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8");
  return child;
}
