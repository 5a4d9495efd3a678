// A command in the process of the test, because most of the time of a real one is spent on starting it.
import { vi } from "vitest";
import { Lab, type Finished } from "../lab/lab.ts";
import { createScriptedHost, type ScriptedAgents } from "../lab/scripted-host.ts";
import { main } from "../../src/cli/main.ts";
import type { ProgramOptions } from "../../src/cli/output.ts";

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export async function tutti(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const streams = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await main([...args], options), ...said };
  } finally {
    for (const stream of streams) stream.mockRestore();
  }
}

/** A laboratory whose commands run in this process, unless they are given an environment of their own. */
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

/** The same with `--json`, its lines read; a value that is not JSON, or anything on stderr, fails the test. */
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
