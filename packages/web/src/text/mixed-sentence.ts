// Sentences of Tutti that hold words of an agent. Only these words are marked as the agent's, so that the user sees which
// part Tutti vouches for. The log has the whole sentences, in English.
//
// Words of an agent are never read as a sentence of their own: an agent that writes like Tutti stays marked.
import { say, sayTemplate } from "./language.ts";
import { LONGEST, patternOf } from "./sentence-reader.ts";

interface SentencePart {
  text: string;
  isOfAgent: boolean;
}

export const MIXED_SENTENCES: readonly string[] = [
  "Task {taskId} ({title}) did not complete: {error}",
  "The phase {phase} did not complete: {error}",
  "The {phase} phase got {error}. You can supply its data, or try it again.",
  "{count} tasks in a row failed in the same way ({code}): {error}",
  "{lead} gave no verdict on {taskId} ({title}). Approve the work, or reject it with a reason.",
  'Task {taskId} ({title}) waits for a host with {labels}, and none offers that. Start one with "{command}", or cancel the task.',
  "The usage limit of {provider} is reached ({until}): {detail}. Continue now?",
  "Task {taskId} was not started, because the gate of {environment} is closed. {reasons}",
  "The review says {status}.",
  "The message names another commit: {commit}.",
  '"{name}" is not empty: {value}.',
  '"{name}" is {value}, which contradicts an approval.',
  "the interface {value} needs a name, files and the id of a task as its owner, so it counts for nothing",
  '"{path}" must be {form}; it is {value}.',
];

const OF_AGENT = /^(title|error|detail|reasons?|value|status|commit)$/;
let patterns: readonly (readonly [string, RegExp])[] | null = null;

/** Null for any other text. */
export function splitSentence(text: string): SentencePart[] | null {
  if (text.length > LONGEST) return null;
  patterns ??= MIXED_SENTENCES.map((english) => [english, patternOf(english)] as const);
  for (const [english, pattern] of patterns) {
    const values = pattern.exec(text)?.groups;
    if (values === undefined) continue;
    const parts = sayTemplate(english).split(/(\{\w+\})/);
    return parts
      .filter((part) => part !== "")
      .map((part) => {
        const name = part.startsWith("{") ? part.slice(1, -1) : null;
        return name === null
          ? { text: part, isOfAgent: false }
          : { text: say(values[name] ?? ""), isOfAgent: OF_AGENT.test(name) };
      });
  }
  return null;
}
