import { isOldFile, readOldStates, type OldRun } from "./old-states.ts";
import { readCopy } from "../copies/run-copy.ts";
import { LOG_BOUNDS, parseBoundedJson } from "../../schema/bounded-json.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Template } from "../../schema/template.ts";

/**
 * `text` is one exported run (`readCopy`), or an old state file. `fallback` replaces a template that cannot be read;
 * `newId` replaces ids that are not valid.
 */
export function readRuns(text: string, fallback: () => Template, newId: () => string, now: number): OldRun[] {
  const whole = parseJson(text);
  return isOldFile(whole) ? readOldStates(whole, fallback(), newId, now) : [readCopy(text)];
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text, LOG_BOUNDS);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    // An exported run is several lines of JSON, which `readCopy` parses.
    return null;
  }
}
