// Recordings of the real Claude Code program, heard by our dialogue. The names that the program repeats of what was said
// to it are those of the recording, so they are put in place of ours.
import { DialogueLab, recording, type DialogueLabOptions } from "./dialogue-lab.ts";
import { openClaudeDialogue } from "../../src/session/drivers/claude/dialogue.ts";

type Message = Record<string, unknown>;

export class ClaudeLab extends DialogueLab {
  #turns = 0;
  /** Our name of each prompt, by the one that the recording has. */
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

  /** The name of our last request of this kind. */
  requestId(subtype: string): string {
    const request = this.said.findLast(({ request }) => (request as Message | undefined)?.["subtype"] === subtype);
    return request!["request_id"] as string;
  }

  /** The answer to the hand-shake, as short as an old version gives it. */
  shakeHands(response: Message = { claude_code_version: "2.1.325" }): void {
    const answer = { subtype: "success", request_id: this.requestId("initialize"), response };
    this.hear({ type: "control_response", response: answer });
  }

  /** Hears a recording; a turn is given where its first word of one is. Returns the lines as they were heard. */
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
