import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const LAUNCHER = join(import.meta.dirname, "../../bin/tutti.js");

/** Starts the Tutti command line on its own terminal. The exit code is the command's. */
export function onTerminal(args: string[], columns?: number): ChildProcessByStdio<Writable, Readable, null> {
  // `exec`, because a shell in between would receive the Ctrl-C too, and some shells then exit with 130.
  const size = columns === undefined ? [] : [`stty cols ${columns};`];
  const command = [...size, "exec", process.execPath, LAUNCHER, ...args].join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8");
  return child;
}
