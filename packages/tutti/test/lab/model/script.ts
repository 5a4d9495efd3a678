// Ways of putting a script together.
import type { Script } from "./model-endpoint.ts";
import type { Step } from "./step.ts";

/** One list of steps for each request of a turn. After the last one the turn is over, so the last should call no tool. */
export const inOrder =
  (...lists: Step[][]): Script =>
  ({ step, prompt }) => {
    const steps = lists[step];
    if (steps === undefined) throw new Error(`there is no answer ${step} to "${prompt.slice(0, 60)}"`);
    return steps;
  };

/** The first script whose key stands in the prompt. */
export const byPrompt =
  (table: Record<string, Script>): Script =>
  (request) => {
    const entry = Object.entries(table).find(([key]) => request.prompt.includes(key));
    if (entry === undefined) throw new Error(`nothing fits the prompt "${request.prompt.slice(0, 60)}"`);
    return entry[1](request);
  };
