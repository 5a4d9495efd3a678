// A request of an agent program to the scripted model, the same for every vendor.
import type { IncomingHttpHeaders } from "node:http";

export type Vendor = "anthropic" | "openai" | "gemini";

/** The fields that a vendor's dialect reads from a request. */
export interface Asked {
  model: string;
  /** The latest text of the user, without tool results and additions of the program (reminders, context). */
  prompt: string;
  /** Number of assistant turns since `prompt`: 0 for the first request of a turn. */
  step: number;
  /** Number of prompts in the conversation, including this one. */
  turn: number;
  system: string;
  tools: string[];
  /** Tool results since `prompt`, oldest first. */
  results: string[];
  /** Null for Gemini, which sends no session id. */
  session: string | null;
}

export interface ModelRequest extends Asked {
  vendor: Vendor;
  /** Counts all requests to the endpoint, from 1. */
  number: number;
  headers: IncomingHttpHeaders;
  body: unknown;
  abandoned: boolean;
}

export interface Message {
  role: "user" | "assistant";
  texts: string[];
  results?: string[];
}

export function locatePrompt(messages: Message[]): Pick<Asked, "prompt" | "step" | "turn" | "results"> {
  const found = { prompt: "", step: 0, turn: 0, results: [] as string[] };
  let after: Message["role"] = "user";
  for (const { role, texts, results = [] } of messages) {
    const prompt = role === "user" && results.length === 0 ? texts.findLast((text) => !isAdded(text)) : undefined;
    if (prompt !== undefined) Object.assign(found, { prompt, step: 0, turn: found.turn + 1, results: [] });
    // OpenAI lists the text and calls of one assistant turn as separate items.
    else if (role === "assistant" && after !== "assistant") found.step += 1;
    found.results.push(...results);
    after = role;
  }
  return found;
}

/** Programs add reminders and context to the user's messages, each enclosed in a tag, and notes. */
function isAdded(text: string): boolean {
  const trimmed = text.trim();
  const notes = ["[Request interrupted", "Output token limit hit."];
  if (trimmed === "" || notes.some((note) => trimmed.startsWith(note))) return true;
  return /^<([a-z][\w-]*)[\s>][^]*<\/\1>$/i.test(trimmed);
}
