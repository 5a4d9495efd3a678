// Plays recordings of the real Claude Code program to the dialogue. The program repeats ids of requests and prompts, so
// the lab replaces the recorded ids with those of the dialogue.
import { DialogueLab, recording, type DialogueLabOptions } from "./dialogue-lab.ts";
import { openClaudeDialogue } from "../../src/session/drivers/claude/dialogue.ts";

type Message = Record<string, unknown>;

export class ClaudeLab extends DialogueLab {
  #turns = 0;
  /** The dialogue's id of each prompt, by the recorded id. */
  readonly #prompts = new Map<string, string>();

  constructor(options: DialogueLabOptions = {}) {
    super(openClaudeDialogue, { command: ["claude", "-p", "--session-id", "a-name"], ...options });
    this.dialogue.open();
  }

  get lastUuid(): string {
    return this.said.findLast(({ type }) => type === "user")!["uuid"] as string;
  }

  turn(text = "do it"): void {
    this.dialogue.turn({ number: ++this.#turns, text });
  }

  /** The id of the dialogue's last request of this kind. */
  requestId(subtype: string): string {
    const request = this.said.findLast(({ request }) => (request as Message | undefined)?.["subtype"] === subtype);
    return request!["request_id"] as string;
  }

  /** The short answer of an old version to `initialize`. */
  shakeHands(response: Message = { claude_code_version: "2.1.325" }): void {
    const answer = { subtype: "success", request_id: this.requestId("initialize"), response };
    this.hear({ type: "control_response", response: answer });
  }

  /** Plays a recording and starts a turn at its first message of each. Returns the lines with replaced ids. */
  play(name: string): string[] {
    const lines = recording(name);
    if (!lines.some((line) => line.includes('"control_response"'))) {
      this.shakeHands();
      this.turn();
    }
    return lines.map((line) => {
      const fitted = this.#fit(line);
      this.hear(fitted);
      return fitted;
    });
  }

  #fit(line: string): string {
    const message = JSON.parse(line) as Message & { response?: Message };
    if (message["type"] === "control_response" && RECORDED_INITIALIZE.has(String(message.response?.["request_id"])))
      return line.replace(/"request_id":"(init|req-1)"/, `"request_id":"${this.requestId("initialize")}"`);
    if (message["type"] === "control_response" && RECORDED_INTERRUPT.has(String(message.response?.["request_id"]))) {
      this.dialogue.interrupt();
      line = line.replace(/"request_id":"(int|req-2)"/, `"request_id":"${this.requestId("interrupt")}"`);
    }
    const started = message["type"] === "system" && message["subtype"] === "session_state_changed";
    const first = message["type"] === "command_lifecycle" && message["state"] === "queued";
    if (first || (this.#turns === 0 && (started || message["subtype"] === "init"))) this.#begin(message);
    for (const [theirs, ours] of this.#prompts) line = line.replaceAll(theirs, ours);
    return line;
  }

  #begin(message: Message): void {
    const name = message["command_uuid"];
    if (this.#turns === 0 || (typeof name === "string" && !this.#prompts.has(name) && this.#prompts.size > 0))
      this.turn();
    if (typeof name === "string" && !this.#prompts.has(name)) this.#prompts.set(name, this.lastUuid);
  }
}

const RECORDED_INITIALIZE = new Set(["init", "req-1"]);
const RECORDED_INTERRUPT = new Set(["int", "req-2"]);
