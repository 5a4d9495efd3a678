// Runs an ACP dialogue without a process, and plays recordings of real agents to it.
import { readFileSync } from "node:fs";
import { setImmediate as nextRound } from "node:timers/promises";
import { Permissions } from "../../src/schema/permissions.ts";
import type { AgentLine, Dialogue } from "../../src/session/dialogue.ts";
import { openAcpDialogue } from "../../src/session/drivers/acp/dialogue.ts";

export interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export class AcpLab {
  readonly told: AgentLine[] = [];
  readonly wrote: Message[] = [];
  readonly failures: string[] = [];
  readonly dialogue: Dialogue;
  isReady = false;

  constructor(permissions: Partial<Permissions> = {}, cwd = "/home/dev/project", model: string | null = null) {
    this.dialogue = openAcpDialogue({
      sessionId: "session",
      cwd,
      permissions: Permissions.parse(permissions),
      model,
      tools: { url: "http://127.0.0.1:9/mcp", token: "tutti_worker_none" },
      resumed: null,
      command: ["agent", "--acp"],
      write: (text) => void this.wrote.push(JSON.parse(text) as Message),
      emit: (line) => void this.told.push(line),
      ready: () => void (this.isReady = true),
      fail: (error) => void this.failures.push(error),
    });
  }

  hear(message: object): void {
    this.dialogue.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  update(update: object, sessionId = "c1"): void {
    this.hear({ method: "session/update", params: { sessionId, update } });
  }

  say(text: string, more: object = {}): void {
    this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more });
  }

  /** The next message of the dialogue that was not returned before. */
  async taken(): Promise<Message> {
    for (let round = 0; round < 1000 && this.wrote.length === 0; round += 1) await nextRound();
    const message = this.wrote.shift();
    if (!message) throw new Error("the dialogue wrote nothing");
    return message;
  }

  /** Answers the next message of the dialogue. */
  async reply(answer: (message: Message) => object): Promise<Message> {
    const message = await this.taken();
    this.hear({ id: message.id, ...answer(message) });
    return message;
  }

  /** Connects a generic agent, up to the first prompt. */
  async begin(capabilities: object = {}): Promise<void> {
    this.dialogue.open();
    await this.reply(() => ({ result: { protocolVersion: 1, agentCapabilities: capabilities } }));
    await this.reply(() => ({ result: { sessionId: "c1" } }));
    await this.settled(() => this.isReady);
  }

  async settled(done: () => boolean): Promise<void> {
    for (let round = 0; round < 1000 && !done(); round += 1) await nextRound();
    if (!done()) throw new Error("what was waited for did not happen");
  }

  /** Starts a turn; later lines belong to it. */
  async prompt(text = "do it", number = 1): Promise<Message> {
    this.told.splice(0);
    this.dialogue.turn({ number, text });
    return this.taken();
  }
}

/** Plays a recording. The dialogue must write exactly the recorded messages. */
export async function play(
  name: string,
  permissions: Partial<Permissions>,
): Promise<{ turns: AgentLine[][]; said: [Message, Message][] }> {
  const file = new URL(`./recordings/acp-${name}.io.jsonl`, import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const lab = new AcpLab(permissions);
  const turns: AgentLine[][] = [];
  const said: [Message, Message][] = [];
  for (const [at, line] of lines.entries()) {
    const { dir, m } = JSON.parse(line) as { dir: "in" | "out"; m: Message };
    if (dir === "out") {
      lab.hear(m);
      continue;
    }
    if (at === 0) lab.dialogue.open();
    if (m.method === "session/prompt") {
      await lab.settled(() => lab.isReady);
      turns.push(lab.told.splice(0));
      const [block] = m.params!["prompt"] as [{ text: string }];
      lab.dialogue.turn({ number: turns.length, text: block.text });
    }
    if (m.method === "session/cancel") lab.dialogue.interrupt();
    said.push([m, await lab.taken()]);
  }
  turns.push(lab.told.splice(0));
  return { turns, said };
}

/** All lines except partial messages. */
export const whole = (lines: AgentLine[]): AgentLine[] =>
  lines.filter((line) => line.type !== "assistant" || line.partial !== true);
