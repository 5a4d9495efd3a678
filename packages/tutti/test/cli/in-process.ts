// Runs a command in the process of the test, because a new process spends most of its time on starting.
import { AsyncLocalStorage } from "node:async_hooks";
import { Lab, type Finished } from "../lab/lab.ts";
import { createScriptedHost, type ScriptedAgents } from "../lab/scripted-host.ts";
import { main } from "../../src/cli/main.ts";
import type { ProgramOptions } from "../../src/cli/terminal/output.ts";

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The output of the command that the current asynchronous work belongs to. Commands of one test may run side by side. */
const output = new AsyncLocalStorage<Pick<Ended, "stdout" | "stderr">>();

for (const name of ["stdout", "stderr"] as const) {
  const write = process[name].write.bind(process[name]);
  process[name].write = ((...args: Parameters<typeof write>) => {
    const printed = output.getStore();
    if (!printed) return write(...args);
    printed[name] += String(args[0]);
    return true;
  }) as typeof write;
}

export function tutti(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  return output.run(printed, async () => ({ code: await main([...args], options), ...printed }));
}

/** Runs commands in this process, unless `env` is given. */
export class InProcessLab extends Lab {
  readonly #agents: ScriptedAgents = new Map();
  /** Whether `script:` agents are played in this process, too. */
  playsAgents = true;

  /** Options of an engine whose agents are those of this laboratory. */
  get options(): ProgramOptions {
    return this.playsAgents ? { replaceHost: (kept) => createScriptedHost(this.#agents, kept) } : {};
  }

  override async tutti(args: string[], env?: Record<string, string>): Promise<Finished> {
    if (env) return super.tutti(args, env);
    return { ...(await tutti(["--data-dir", this.data, ...args], this.options)), signal: null };
  }
}

/** Runs a command with `--json` and parses its lines. Fails on a line that is not JSON, and on any text on stderr. */
export async function tuttiJson<T = Record<string, unknown>>(
  args: readonly string[],
): Promise<{ code: number; lines: T[]; last: T }> {
  const { code, stdout, stderr } = await tutti(["--json", ...args]);
  if (stderr !== "") throw new Error(`on stderr: ${stderr}`);
  const lines = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
  return { code, lines, last: lines.at(-1)! };
}
