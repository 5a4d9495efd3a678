// The orders of the test agents: one per line of the prompt; other lines are ignored. Each program implements its own
// protocol, but all of them and the scripted model share the same orders. A line of Tutti that asks for a block is an
// order too, so the programs can carry out whole runs.
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
    const asked = requestIn(line);
    if (asked !== null) await answer(asked, voice);
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

/** The phase and the task of the block for which the text asks. */
export function requestIn(text: string): { phase: string; task: string | null } | null {
  const [, phase, task] = [...text.matchAll(/with the \\?"(\w+)\\?" block(?: for ([\w-]+))?/g)].at(-1) ?? [];
  return phase === undefined ? null : { phase, task: task ?? null };
}

const BLOCKS: Record<string, object> = {
  analysis: { summary: "a small project", recommended_splits: 2 },
  task_list: {
    tasks: ["one", "two"].map((id) => ({ id, title: id, description: `Write ${id}`, scope: [], dependencies: [] })),
  },
  aggregation: { status: "success", summary: "all in one" },
  verification: { status: "passed", summary: "all is well" },
};

async function answer({ phase, task }: { phase: string; task: string | null }, voice: Voice): Promise<void> {
  await voice.say(`I begin with the ${phase}.`);
  if (task !== null) await voice.write(`${task}.md`);
  const data = BLOCKS[phase] ?? { task_id: task, status: "success", summary: `wrote ${task}` };
  const block = JSON.stringify({ phase, data });
  await voice.say(`<<<ORCHESTRATOR_RESPONSE>>>${block}<<<END_ORCHESTRATOR_RESPONSE>>>`);
}

async function aborted(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sleep(50);
}

export const writeFile = (file: string): void => writeFileSync(file, "written\n");

export const runCommand = (command: string): Promise<void> => runs("/bin/sh", ["-c", command]);

async function runs(program: string, args: string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "close");
}
