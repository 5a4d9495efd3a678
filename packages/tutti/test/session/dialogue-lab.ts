// Runs a dialogue without a keeper and a program: feeds it the lines of a recording and collects its output.
import { mkdtempSync, readFileSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_PERMISSIONS, type Permissions } from "../../src/schema/permissions.ts";
import type { AgentLine, Dialogue, OpenDialogue, ResumedConversation } from "../../src/session/dialogue.ts";
import { LineTail } from "../../src/session/lines/line-tail.ts";

export interface DialogueLabOptions {
  permissions?: Partial<Permissions>;
  subagentDepth?: number;
  model?: string;
  resumed?: ResumedConversation;
  cwd?: string;
  sessionId?: string;
  command?: string[];
}

export class DialogueLab {
  readonly dialogue: Dialogue;
  /** The JSON lines of the dialogue. */
  readonly told: AgentLine[] = [];
  /** The messages to the agent. */
  readonly said: Record<string, unknown>[] = [];
  /** The number of calls of `ready`. */
  readies = 0;
  readonly failures: string[] = [];

  constructor(open: OpenDialogue, options: DialogueLabOptions = {}) {
    this.dialogue = open({
      sessionId: options.sessionId ?? "session_1",
      command: options.command ?? ["agent"],
      cwd: options.cwd ?? "/home/dev/project",
      permissions: { ...DEFAULT_PERMISSIONS, ...options.permissions },
      subagentDepth: options.subagentDepth,
      model: options.model ?? null,
      tools: { url: "http://127.0.0.1:9/mcp", token: "tutti_worker_none" },
      resumed: options.resumed ?? null,
      write: (text) => {
        for (const line of text.split("\n"))
          if (line !== "") this.said.push(JSON.parse(line) as Record<string, unknown>);
      },
      emit: (line) => this.told.push(line),
      ready: () => (this.readies += 1),
      fail: (error) => this.failures.push(error),
    });
  }

  hear(...messages: (object | string)[]): void {
    for (const message of messages)
      this.dialogue.receive(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Reads a growing file in pieces of `bytes`, like the keeper. */
  hearCut(lines: readonly string[], bytes: number): void {
    const folder = mkdtempSync(join(tmpdir(), "tutti-dialogue-"));
    const file = join(folder, "raw.log");
    writeFileSync(file, "");
    const tail = new LineTail(file, (line) => this.dialogue.receive(line));
    try {
      const whole = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      for (let at = 0; at < whole.length; at += bytes) {
        appendFileSync(file, whole.subarray(at, at + bytes));
        tail.read();
      }
      tail.finish();
    } finally {
      tail.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** All lines of one type. */
  of<T extends AgentLine["type"]>(type: T): Extract<AgentLine, { type: T }>[] {
    return this.told.filter((line): line is Extract<AgentLine, { type: T }> => line.type === type);
  }

  /** The agent's messages without partial ones. */
  words(): string[] {
    return this.of("assistant").flatMap(({ text, partial }) => (partial === true ? [] : [text]));
  }
}

/** The lines of a recording. */
export const recording = (name: string): string[] =>
  readFileSync(new URL(`recordings/${name}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "");
