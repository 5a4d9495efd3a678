// Plays Codex to the dialogue, with messages built after the program's generated types or with recordings.
import { DialogueLab, recording, type DialogueLabOptions } from "./dialogue-lab.ts";
import { openCodexDialogue } from "../../src/session/drivers/codex/dialogue.ts";

export const COMMAND = ["codex", "app-server"];
export const THREAD = "thread-1";

export class CodexLab extends DialogueLab {
  #turns = 0;
  #items = 0;

  constructor(options: DialogueLabOptions = {}) {
    super((context) => openCodexDialogue({ ...context, command: COMMAND }), options);
  }

  /** The newest request with this method. */
  request(method: string): Record<string, unknown> {
    const found = this.said.findLast((message) => message["method"] === method && "id" in message);
    if (!found) throw new Error(`it has not asked for ${method}: ${JSON.stringify(this.said)}`);
    return found;
  }

  asked(method: string): boolean {
    return this.said.some((message) => message["method"] === method);
  }

  /** Answers the newest request with this method. */
  reply(method: string, answer: { result: unknown } | { error: unknown }): void {
    this.hear({ id: this.request(method)["id"], ...answer });
  }

  /** Connects, until the dialogue accepts a turn. */
  begin(account: object = { account: null, requiresOpenaiAuth: false }, codexHome = "/home/dev/.codex"): this {
    this.dialogue.open();
    const userAgent = "tutti/0.166.0 (Linux; x86_64) unknown (tutti; 1.0.0)";
    this.reply("initialize", { result: { userAgent, codexHome } });
    this.reply("account/read", { result: account });
    return this;
  }

  beginThread(): this {
    this.begin();
    this.reply("thread/start", { result: { thread: { id: THREAD } } });
    return this;
  }

  /** Sends a turn and confirms it. */
  turn(text = "do it"): this {
    this.dialogue.turn({ number: ++this.#turns, text });
    this.reply("turn/start", { result: { turn: { id: this.turnId, status: "inProgress" } } });
    return this;
  }

  get turnId(): string {
    return `turn-${this.#turns}`;
  }

  notify(method: string, params: object = {}): void {
    this.hear({ method, params: { threadId: THREAD, turnId: this.turnId, ...params } });
  }

  /** Starts an item and returns its id. */
  item(item: object): string {
    const id = `item-${++this.#items}`;
    this.notify("item/started", { item: { id, ...item } });
    return id;
  }

  complete(id: string, item: object): void {
    this.notify("item/completed", { item: { id, ...item } });
  }

  say(text: string): void {
    const id = this.item({ type: "agentMessage", text: "" });
    for (const delta of text) this.notify("item/agentMessage/delta", { itemId: id, delta });
    this.complete(id, { type: "agentMessage", text });
  }

  end(status = "completed", error: object | null = null): void {
    this.hear({ method: "turn/completed", params: { threadId: THREAD, turn: { id: this.turnId, status, error } } });
  }

  /** The lines since the last call, without partial messages. */
  news(): object[] {
    return this.told.splice(0).filter((line) => !("partial" in line));
  }

  /** The answers to requests of the program, in order. */
  decisions(): unknown[] {
    return this.said.filter((message) => !("method" in message)).map(({ result, error }) => result ?? { error });
  }
}

interface Recorded {
  dir: "in" | "out";
  m: Record<string, unknown>;
}

/** Plays a recording: starts its turns at the recorded positions and maps its answers to the dialogue's requests. */
export function playRecording(lab: CodexLab, name: string): void {
  const methods = new Map<unknown, string>();
  lab.dialogue.open();
  for (const line of recording(name)) {
    const { dir, m } = JSON.parse(line) as Recorded;
    const method = typeof m["method"] === "string" ? m["method"] : null;
    if (dir === "in") {
      if (method !== null) methods.set(m["id"], method);
      if (method === "turn/start") lab.dialogue.turn({ number: 1, text: JSON.stringify(m["params"]) });
      if (method === "turn/interrupt") lab.dialogue.interrupt();
    } else if (method !== null) lab.hear(m);
    else {
      lab.hear({ ...m, id: lab.request(methods.get(m["id"])!)["id"] });
      // The recorded client did not send this request.
      if (methods.get(m["id"]) === "initialize")
        lab.reply("account/read", { result: { account: null, requiresOpenaiAuth: false } });
    }
  }
}
