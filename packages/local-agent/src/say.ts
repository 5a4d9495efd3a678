// What the agent says, line by line. Whatever a repository holds, it cannot speak in the agent's name: blocks are
// written so that no delimiter can stand inside them, and plain words carry none.

export interface Voice {
  /** Words for people. */
  say(text: string): void;
  /** One block of the protocol, with words in front of it. */
  answer(words: string, phase: string, data: object): void;
  tool(name: string, input: object): void;
  endTurn(error?: string): void;
}

export interface BlockDelimiters {
  start: string;
  end: string;
}

const DEFAULTS: BlockDelimiters = { start: "<<<ORCHESTRATOR_RESPONSE>>>", end: "<<<END_ORCHESTRATOR_RESPONSE>>>" };

export function delimitersFrom(variables: Record<string, unknown>): BlockDelimiters {
  const word = (value: unknown, fallback: string): string =>
    typeof value === "string" && value !== "" ? value : fallback;
  return {
    start: word(variables["DELIMITER_START"], DEFAULTS.start),
    end: word(variables["DELIMITER_END"], DEFAULTS.end),
  };
}

export function makeVoice(write: (line: string) => void, delimiters: BlockDelimiters): Voice {
  const send = (message: object): void => write(`${JSON.stringify(message)}\n`);
  return {
    say: (text) => send({ type: "assistant", text: harmless(text, delimiters) }),
    answer: (words, phase, data) => {
      const block = escapeBlock(JSON.stringify({ phase, data }, null, 2), delimiters);
      send({
        type: "assistant",
        text: `${harmless(words, delimiters)}\n\n${delimiters.start}\n${block}\n${delimiters.end}`,
      });
    },
    tool: (name, input) => send({ type: "tool", name, input }),
    endTurn: (error) => send(error === undefined ? { type: "turn_end" } : { type: "turn_end", error }),
  };
}

/** In JSON the first sign of a delimiter can be written as an escape, which reads the same. */
function escapeBlock(json: string, { start, end }: BlockDelimiters): string {
  const escaped = json.replaceAll("<", "\\u003c");
  return [start, end].reduce((text, delimiter) => {
    const code = delimiter.codePointAt(0)!.toString(16).padStart(4, "0");
    return text.replaceAll(delimiter, () => `\\u${code}${delimiter.slice(1)}`);
  }, escaped);
}

function harmless(text: string, { start, end }: BlockDelimiters): string {
  return text.replaceAll("<<<", "‹‹‹").replaceAll(start, "…").replaceAll(end, "…");
}
