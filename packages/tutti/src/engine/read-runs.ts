// The runs in a file that is to be taken in: one that Tutti exported, or all those of an old file of states.
import { isOldFile, readOldStates, type OldRun } from "./old-states.ts";
import { readCopy } from "./run-copy.ts";
import type { Template } from "../schema/template.ts";

/** `fallback` stands in for a template that cannot be read; `newId` names what has no id that could be kept. */
export function readRuns(text: string, fallback: () => Template, newId: () => string, now: number): OldRun[] {
  const whole = parseJson(text);
  return isOldFile(whole) ? readOldStates(whole, fallback(), newId, now) : [readCopy(text)];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Several lines of JSON are no JSON; they are read in their own way.
    return null;
  }
}
