// What was said and done in a session, as a person reads it: prompts and answers in their order.
import { findDriver } from "./agents.ts";
import { SessionReader } from "./read-session.ts";
import { paths, readJson, readRequest, turnName, type KeeperSpec } from "./session-folder.ts";
import type { SessionSignal } from "./session.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

export function readTranscript(folder: string): TranscriptEntry[] {
  const spec = readJson<KeeperSpec>(paths(folder).spec);
  if (spec === null) return [];
  const { driver } = findDriver(spec.agent);
  const entries: TranscriptEntry[] = [];
  for (const signal of new SessionReader(folder, spec.mode, () => driver.decoder()).read()) {
    const entry = toEntry(folder, signal);
    if (entry === null) continue;
    const last = entries.at(-1);
    // What an agent says in pieces is one message.
    if (signal.type === "text" && !signal.complete && last?.type === "text") last.text += signal.text;
    else entries.push({ ...entry, n: entries.length + 1 });
  }
  return entries;
}

type Entry = TranscriptEntry extends infer E ? (E extends TranscriptEntry ? Omit<E, "n"> : never) : never;

function toEntry(folder: string, signal: SessionSignal): Entry | null {
  switch (signal.type) {
    case "sent": {
      const request = readRequest(folder, turnName(signal.turn));
      return request?.type === "turn" ? { type: "prompt", turn: signal.turn, text: request.text } : null;
    }
    case "text":
      return signal.text === "" ? null : { type: "text", text: signal.text };
    case "tool":
    case "usage":
    case "ask":
    case "interrupted":
    case "turnOver":
      return signal;
    default:
      return null;
  }
}
