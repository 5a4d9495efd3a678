import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";

export const { delimiterStart: START, delimiterEnd: END } = DEFAULT_DELIMITERS;

export const delimited = (content: string): string => `${START}\n${content}\n${END}`;

export const block = (phase: string, data: unknown): string => delimited(JSON.stringify({ phase, data }, null, 2));

/** The worked example of document 000. */
export const EXAMPLE = `I've analyzed the codebase and found several components to document.

<<<ORCHESTRATOR_RESPONSE>>>
{
  "phase": "analysis",
  "data": {
    "summary": "Found 5 main modules",
    "recommended_splits": 5
  }
}
<<<END_ORCHESTRATOR_RESPONSE>>>

Let me know if you'd like me to proceed with the task breakdown.`;
