import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

/** A test that waits longer fails with the words that it still expects. */
const GIVE_UP_MS = 300_000;
const LAUNCHER = join(import.meta.dirname, "../../bin/tutti.js");

/** Starts the Tutti command line on its own terminal. The exit code is the command's. */
export function onTerminal(
  args: string[],
  columns?: number,
  cwd?: string,
): ChildProcessByStdio<Writable, Readable, null> {
  // `exec`, because a shell in between would receive the Ctrl-C too, and some shells then exit with 130.
  const size = columns === undefined ? [] : [`stty cols ${columns};`];
  const command = [...size, "exec", process.execPath, LAUNCHER, ...args].join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"], cwd });
  child.stdout.setEncoding("utf8");
  return child;
}

/** Types the `keys` of each step as soon as its `words`, on one line or more, appear after those of the step before. */
export async function playUser(
  args: string[],
  steps: readonly (readonly [words: string, keys: string | (() => void)])[],
  { cwd, giveUpMs = GIVE_UP_MS }: { cwd?: string; giveUpMs?: number } = {},
): Promise<{ code: number; shown: string }> {
  const child = onTerminal(args, 80, cwd);
  const left = [...steps];
  let shown = "";
  let seen = 0;
  child.stdout.on("data", (text: string) => {
    shown += text;
    for (let [step] = left; step; [step] = left) {
      const [words, keys] = step;
      const found = patternOf(words).exec(shown.slice(seen));
      if (found === null) return;
      seen += found.index + found[0].length;
      left.shift();
      if (typeof keys === "string") child.stdin.write(keys);
      else keys();
    }
  });
  const giveUp = setTimeout(() => child.stdin.write("\u0003"), giveUpMs);
  const [code] = (await once(child, "close")) as [number];
  clearTimeout(giveUp);
  if (left.length > 0) throw new Error(`the terminal did not show ${left[0]![0]} but ${shown.slice(seen)}`);
  return { code, shown };
}

const patternOf = (words: string): RegExp =>
  new RegExp(words.replaceAll(/[^\w ]/g, String.raw`\$&`).replaceAll(" ", String.raw`(?: |\r\n +)`));
