// Combinators for scripts.
import type { Script } from "./model-endpoint.ts";
import type { Step } from "./step.ts";

/** Plays one list of steps per request of a turn. The turn ends after the last one, so the last should call no tool. */
export const inOrder =
  (...lists: Step[][]): Script =>
  ({ step, prompt }) => {
    const steps = lists[step];
    if (steps === undefined) throw new Error(`the script has no answer ${step} to "${prompt.slice(0, 60)}"`);
    return steps;
  };

export const byPrompt =
  (table: Record<string, Script>): Script =>
  (request) => {
    const entry = Object.entries(table).find(([key]) => request.prompt.includes(key));
    if (entry === undefined) throw new Error(`no script matches the prompt "${request.prompt.slice(0, 60)}"`);
    return entry[1](request);
  };
