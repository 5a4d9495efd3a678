import { Fragment } from "react";
import { AgentText } from "./agent-text.tsx";
import { AgentWords } from "./agent-words.tsx";
import { say } from "./language.ts";
import { splitSentence } from "./mixed-sentence.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";

interface Properties {
  text: string;
  max?: number;
  /** Whether a text that is none of `MIXED_SENTENCES` holds no words of an agent. */
  isOfTutti?: boolean;
}

/** A sentence of the log, in which the words of an agent are marked. */
export function MixedText({ text, max = 300, isOfTutti = false }: Properties) {
  const parts = splitSentence(text);
  if (parts === null) {
    const whole = capitalize(say(text));
    return isOfTutti ? <AgentText text={whole} max={max} /> : <AgentWords text={whole} max={max} />;
  }
  return parts.map((part, index) =>
    part.isOfAgent ? (
      <AgentWords key={index} text={part.text} max={max} />
    ) : (
      <AgentText key={index} text={index === 0 ? capitalize(part.text) : part.text} max={max} />
    ),
  );
}

/** Sentences of Tutti after each other. */
export function MixedList({ texts }: { texts: readonly string[] }) {
  return texts.map((text, index) => (
    <Fragment key={text}>
      {index > 0 && " "}
      <MixedText text={text} max={600} isOfTutti />
    </Fragment>
  ));
}
