// What the played agents do: the prompt says it, one order per line, and lines that are no orders mean nothing. Every
// program speaks a protocol of its own; what an order is, is the same for all of them, and for the scripted model too.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How one protocol says and does it. */
export interface Voice {
  /** A whole message. */
  say(text: string): unknown;
  /** A piece of a message that is never finished. */
  mutter(text: string): unknown;
  /** Changes a file with a tool of its own. */
  write(file: string): unknown;
  /** Asks whether it may, and runs the command if so. */
  run(command: string): unknown;
  /** Lets an agent of its own say something. */
  delegate(words: string): unknown;
  use(inputTokens: number, outputTokens: number): unknown;
}

export interface Circumstances {
  /** The conversation was taken up again: what hung or talked without end comes to an end this time. */
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

/** What a tool for files does. */
export const writeFile = (file: string): void => writeFileSync(file, "written\n");

/** What a shell tool does; nothing of it is heard. */
export const runCommand = (command: string): Promise<void> => runs("/bin/sh", ["-c", command]);

async function runs(program: string, args: string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "close");
}
