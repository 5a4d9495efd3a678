// The SDK's connection over the lines that the agent writes.
//
// What a turn consists of is read where it comes in, at once and in order: the SDK passes notifications to their handlers
// through several promises, so a last word could arrive after the end of its turn, or after the end of the process, when
// nobody waits for it any more. All the rest, requests of either side with their numbers and errors, is the SDK's.
import { AGENT_METHODS, CLIENT_METHODS } from "@agentclientprotocol/sdk";
import type { AnyMessage, ClientApp, ClientContext } from "@agentclientprotocol/sdk";
import { isRecord, type Fields } from "./fields.ts";

export interface LinkOptions {
  app: ClientApp;
  write: (text: string) => void;
  /** What `session/update` carries; nothing about it is checked yet. */
  onUpdate: (params: unknown) => void;
  /** The agent's answer to the newest prompt: it has `result` or `error` if the agent keeps to the protocol. */
  onPromptAnswered: (message: Fields) => void;
}

export interface Link {
  agent: ClientContext;
  hear(line: string): void;
  close(): void;
}

export function openLink({ app, write, onUpdate, onPromptAnswered }: LinkOptions): Link {
  let incoming!: ReadableStreamDefaultController<AnyMessage>;
  let promptId: unknown;
  const readable = new ReadableStream<AnyMessage>({
    start: (controller) => void (incoming = controller),
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => {
      if ("method" in message && "id" in message && message.method === AGENT_METHODS.session_prompt)
        promptId = message.id;
      write(`${JSON.stringify(message)}\n`);
    },
  });
  const connection = app.connect({ readable, writable });
  return {
    agent: connection.agent,
    hear(line) {
      const message = readMessage(line);
      if (message === null) return;
      if (message["method"] === CLIENT_METHODS.session_update && !("id" in message)) return onUpdate(message["params"]);
      if (promptId !== undefined && message["id"] === promptId && !("method" in message)) {
        promptId = undefined;
        onPromptAnswered(message);
      }
      if (!connection.signal.aborted) incoming.enqueue(message as unknown as AnyMessage);
    },
    close: () => connection.close(),
  };
}

/** Agents also print what is no message, such as warnings of their runtime. */
function readMessage(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && value["jsonrpc"] === "2.0" ? value : null;
  } catch {
    return null;
  }
}
