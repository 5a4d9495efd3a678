// The orders of the test agents: one per line of the prompt; other lines are ignored. Each program implements its own
// protocol, but all of them and the scripted model share the same orders.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** One protocol's implementation of the orders. */
export interface Voice {
  say(text: string): unknown;
  /** Sends a part of a message that is never completed. */
  mutter(text: string): unknown;
  write(file: string): unknown;
  /** Requests permission, and runs the command if granted. */
  run(command: string): unknown;
  delegate(words: string): unknown;
  use(inputTokens: number, outputTokens: number): unknown;
}

export interface Circumstances {
  /** Whether the conversation was resumed. Orders that hang or never stop then end. */
  again: boolean;
  interrupted: AbortSignal;
}

export type TurnEnd = { how: "ended" } | { how: "interrupted" } | { how: "failed"; code: number; words: string };

export async function carryOut(prompt: string, voice: Voice, { again, interrupted }: Circumstances): Promise<TurnEnd> {
  for (const line of prompt.split("\n")) {
    const [verb = "", ...words] = line.split(" ");
    const rest = words.join(" ");
    switch (verb) {
      case "say":
        await voice.say(rest);
        break;
      case "write":
        await voice.write(rest);
        break;
      case "run":
        await voice.run(rest);
        break;
      case "delegate":
        await voice.delegate(rest);
        break;
      case "use":
        await voice.use(Number(words[0]), Number(words[1]));
        break;
      case "talk":
        if (again) await voice.say("The last word.");
        else for (; !interrupted.aborted; await sleep(20)) await voice.mutter("word ");
        break;
      case "hang":
        if (!again || rest === "for ever") await aborted(interrupted);
        break;
      case "work":
        await runs(process.execPath, ["-e", `const end = Date.now() + ${rest}; while (Date.now() < end);`]);
        break;
      case "fail":
        return { how: "failed", code: Number(words[0]), words: words.slice(1).join(" ") };
    }
    if (interrupted.aborted) return { how: "interrupted" };
  }
  return { how: "ended" };
}

async function aborted(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sleep(50);
}

export const writeFile = (file: string): void => writeFileSync(file, "written\n");

export const runCommand = (command: string): Promise<void> => runs("/bin/sh", ["-c", command]);

async function runs(program: string, args: string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "close");
}
