// What an agent program asks the scripted model, the same for every vendor.
import type { IncomingHttpHeaders } from "node:http";

export type Vendor = "anthropic" | "openai" | "gemini";

/** What a vendor's dialect reads from a request. */
export interface Asked {
  model: string;
  /** The newest text of the user. Tool results and what the program adds on its own (reminders, context) do not count. */
  prompt: string;
  /** How many assistant turns follow the prompt already: 0 for the first request of a turn. */
  step: number;
  /** How many prompts the conversation holds, this one included. */
  turn: number;
  system: string;
  /** The names of the tools on offer. */
  tools: string[];
  /** What the tools answered since the prompt, oldest first. */
  results: string[];
  /** The program's own id of its session, where it sends one. Gemini does not. */
  session: string | null;
}

export interface ModelRequest extends Asked {
  vendor: Vendor;
  /** Counted from 1 over everything the endpoint was asked. */
  number: number;
  headers: IncomingHttpHeaders;
  body: unknown;
  /** Did the program go away before the answer was complete? */
  abandoned: boolean;
}

/** One message of a conversation: texts, and whether tool results are among its parts. */
export interface Message {
  role: "user" | "assistant";
  texts: string[];
  results?: string[];
}

/** Finds the newest prompt in a conversation, and what came after it. */
export function locatePrompt(messages: Message[]): Pick<Asked, "prompt" | "step" | "turn" | "results"> {
  const found = { prompt: "", step: 0, turn: 0, results: [] as string[] };
  let after: Message["role"] = "user";
  for (const { role, texts, results = [] } of messages) {
    const prompt = role === "user" && results.length === 0 ? texts.findLast((text) => !isAdded(text)) : undefined;
    if (prompt !== undefined) Object.assign(found, { prompt, step: 0, turn: found.turn + 1, results: [] });
    // OpenAI's conversations list text and calls of one assistant turn one by one.
    else if (role === "assistant" && after !== "assistant") found.step += 1;
    found.results.push(...results);
    after = role;
  }
  return found;
}

/** What programs put into the user's messages on their own: reminders and context, each wholly within a tag, and notes. */
function isAdded(text: string): boolean {
  const trimmed = text.trim();
  const notes = ["[Request interrupted", "Output token limit hit."];
  if (trimmed === "" || notes.some((note) => trimmed.startsWith(note))) return true;
  return /^<([a-z][\w-]*)[\s>][^]*<\/\1>$/i.test(trimmed);
}
