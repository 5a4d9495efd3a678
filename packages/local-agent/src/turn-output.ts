// Writes the JSON lines of a turn. Text of a repository can never form a response block: `writeBlock` escapes the
// delimiters inside the JSON, and `removeDelimiters` replaces them in plain text.

export interface TurnOutput {
  writeText(text: string): void;
  writeBlock(text: string, phase: string, data: object): void;
  writeTool(name: string, input: object): void;
  endTurn(): void;
  /** `isFinal` means that the same prompt would fail again. */
  failTurn(error: string, isFinal: boolean): void;
}

interface BlockDelimiters {
  start: string;
  end: string;
}

const DEFAULTS: BlockDelimiters = { start: "<<<ORCHESTRATOR_RESPONSE>>>", end: "<<<END_ORCHESTRATOR_RESPONSE>>>" };

export function readDelimiters(variables: Record<string, unknown>): BlockDelimiters {
  const read = (value: unknown, fallback: string): string =>
    typeof value === "string" && value !== "" ? value : fallback;
  return {
    start: read(variables["DELIMITER_START"], DEFAULTS.start),
    end: read(variables["DELIMITER_END"], DEFAULTS.end),
  };
}

export function createTurnOutput(write: (line: string) => void, delimiters: BlockDelimiters): TurnOutput {
  const send = (message: object): void => write(`${JSON.stringify({ ...message, at: new Date().toISOString() })}\n`);
  return {
    writeText: (text) => send({ type: "assistant", text: removeDelimiters(text, delimiters) }),
    writeBlock: (text, phase, data) => {
      const block = escapeBlock(JSON.stringify({ phase, data }, null, 2), delimiters);
      const lines = [removeDelimiters(text, delimiters), "", delimiters.start, block, delimiters.end];
      send({ type: "assistant", text: lines.join("\n") });
    },
    writeTool: (name, input) => send({ type: "tool", name, input }),
    endTurn: () => send({ type: "turn_end" }),
    failTurn: (error, isFinal) => send({ type: "turn_end", error, ...(isFinal ? { cause: "invalid_request" } : {}) }),
  };
}

/** Replaces the first character of each delimiter by its JSON escape, which `JSON.parse` decodes to the same text. */
function escapeBlock(json: string, { start, end }: BlockDelimiters): string {
  const escaped = json.replaceAll("<", "\\u003c");
  return [start, end].reduce((text, delimiter) => {
    const code = delimiter.codePointAt(0)!.toString(16).padStart(4, "0");
    return text.replaceAll(delimiter, () => `\\u${code}${delimiter.slice(1)}`);
  }, escaped);
}

function removeDelimiters(text: string, { start, end }: BlockDelimiters): string {
  return text.replaceAll("<<<", "‹‹‹").replaceAll(start, "…").replaceAll(end, "…");
}
