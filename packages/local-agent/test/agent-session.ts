// Drives the local agent as a keeper does: starts the process in a workspace, writes prompts and reads JSON lines.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ANSWERS, type BlockPhase } from "../../tutti/src/schema/answer.ts";
import { localDriver } from "../../tutti/src/session/drivers/local.ts";

export const START = "<<<ORCHESTRATOR_RESPONSE>>>";
export const END = "<<<END_ORCHESTRATOR_RESPONSE>>>";

export interface Line {
  type: string;
  text?: string;
  name?: string;
  input?: Record<string, unknown>;
  error?: string;
}

export interface Block {
  phase: BlockPhase;
  data: Record<string, unknown>;
}

/** Linux reports CPU times in these ticks on every platform that Node supports. */
const TICKS_PER_SECOND = 100;

export const VARIABLES = {
  ORCHESTRATOR_ID: "orch_abcdefghijkl",
  USER_REQUEST: "Document this project",
  TEMPLATE_NAME: "Documentation",
  DELIMITER_START: START,
  DELIMITER_END: END,
};

export class AgentSession implements AsyncDisposable {
  readonly #child;
  readonly #exit: Promise<number | null>;
  #lines: Line[] = [];
  #ended: (() => void) | null = null;
  stderr = "";

  constructor(cwd: string, env: Record<string, string> = {}) {
    const { command, passEnv = [] } = localDriver.launch();
    const [program, ...args] = command;
    const passed = Object.fromEntries(["PATH", ...passEnv].map((name) => [name, process.env[name]]));
    this.#child = spawn(program!, args, { cwd, env: { ...passed, ...env } });
    this.#exit = new Promise((resolve) => this.#child.on("close", resolve));
    this.#child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const message: Line = JSON.parse(line);
      this.#lines.push(message);
      if (message.type === "turn_end") this.#ended?.();
    });
  }

  /** CPU time in seconds that the agent has used, whatever else the machine does. */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** The most memory that the process has had at a time. */
  peakMegabytes(): number {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"))![1]) / 1024;
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  send(phase: string, variables: Record<string, unknown> = {}): void {
    this.write(
      `${JSON.stringify({ type: "user", id: "1", text: "…", phase, variables: { ...VARIABLES, ...variables } })}\n`,
    );
  }

  /** Returns all lines up to the next `turn_end`. */
  async turn(): Promise<Line[]> {
    if (!this.#lines.some((line) => line.type === "turn_end")) {
      await Promise.race([new Promise<void>((resolve) => (this.#ended = resolve)), this.#exit]);
    }
    const end = this.#lines.findIndex((line) => line.type === "turn_end");
    return this.#lines.splice(0, end === -1 ? this.#lines.length : end + 1);
  }

  async ask(phase: string, variables: Record<string, unknown> = {}): Promise<Line[]> {
    this.send(phase, variables);
    return this.turn();
  }

  /** Closes stdin and waits for the exit code. */
  async close(): Promise<number | null> {
    this.#child.stdin.end();
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#exit;
  }
}

/** Returns the blocks of a turn. Throws unless each matches the schema of its phase. */
export function blocksOf(lines: Line[]): Block[] {
  return lines
    .filter((line) => line.type === "assistant" && line.text?.includes(START))
    .map((line) => {
      const [, inside = "", ...rest] = line.text!.split(START);
      if (rest.length > 0 || inside.split(END).length !== 2) throw new Error("A message contains more than one block.");
      const block: Block = JSON.parse(inside.split(END)[0]!);
      ANSWERS[block.phase].parse(block.data);
      return block;
    });
}

export function lastBlock(lines: Line[]): Block {
  const block = blocksOf(lines).at(-1);
  if (!block) throw new Error(`There is no block in ${JSON.stringify(lines)}`);
  return block;
}
