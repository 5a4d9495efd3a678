// Connects the SDK to the lines of the agent.
//
// `receive` handles session updates and the answer to a prompt itself, synchronously and in order. The SDK would pass them
// through several promises, so the last update could arrive after the end of its turn or of the process. All other
// messages go to the SDK.
import { AGENT_METHODS, CLIENT_METHODS } from "@agentclientprotocol/sdk";
import type { AnyMessage, ClientApp, ClientContext } from "@agentclientprotocol/sdk";
import { parseRecord, type Fields } from "../../json-fields.ts";

interface LinkOptions {
  app: ClientApp;
  write: (text: string) => void;
  /** `params` of a `session/update`, not validated. */
  onUpdate: (params: unknown) => void;
  /** The answer to the newest prompt, with `result` or `error` if the agent follows the protocol. */
  onPromptAnswered: (message: Fields) => void;
}

export interface AgentLink {
  agent: ClientContext;
  receive(line: string): void;
  close(): void;
}

export function openLink({ app, write, onUpdate, onPromptAnswered }: LinkOptions): AgentLink {
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
    receive(line) {
      const message = parseRecord(line);
      // Other output, such as warnings of the agent's runtime, is no message of `jsonrpc`.
      if (message["jsonrpc"] !== "2.0") return;
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
