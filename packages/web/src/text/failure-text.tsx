import { AgentText } from "./agent-text.tsx";
import { AgentWords } from "./agent-words.tsx";
import { isOfTutti } from "./is-of-tutti.ts";
import { say } from "./language.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";

interface Properties {
  error: string;
  /** `code` of the event, or `errorCode` of the worker. */
  code: string | null | undefined;
  max?: number;
}

export function FailureText({ error, code, max = 300 }: Properties) {
  const text = capitalize(say(error));
  return isOfTutti(code) ? <AgentText text={text} max={max} /> : <AgentWords text={text} max={max} />;
}
