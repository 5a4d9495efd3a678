// `Peer` is the JSON-RPC connection to Codex. Callbacks run synchronously and in order, so that all output of an exited
// process is handled before its end is reported.
import { parseRecord, recordOf, textOrNull, type Fields } from "../../json-fields.ts";

export type RequestId = string | number;

interface PeerOptions {
  write(text: string): void;
  onNotification(method: string, params: Fields): void;
  onRequest(id: RequestId, method: string, params: Fields): void;
}

type PeerAnswer = { result: Fields; error: null } | { result: null; error: string };

const UNKNOWN_METHOD = -32601;

export class Peer {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<RequestId, (answer: PeerAnswer) => void>();
  #last = 0;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: object, onAnswer: (answer: PeerAnswer) => void): void {
    const id = ++this.#last;
    this.#waiting.set(id, onAnswer);
    this.#send({ id, method, params });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  respond(id: RequestId, result: object): void {
    this.#send({ id, result });
  }

  /** Without an answer to an unknown request, Codex would wait forever. */
  refuse(id: RequestId, method: string): void {
    this.#send({ id, error: { code: UNKNOWN_METHOD, message: `${method} is not supported` } });
  }

  /** Ignores lines that are not messages. */
  receive(line: string): void {
    const message = parseRecord(line);
    const { id, method, params } = message;
    const isId = typeof id === "string" || typeof id === "number";
    if (typeof method === "string") {
      if (isId) this.#options.onRequest(id, method, recordOf(params));
      else this.#options.onNotification(method, recordOf(params));
      return;
    }
    if (!isId) return;
    const onAnswer = this.#waiting.get(id);
    this.#waiting.delete(id);
    onAnswer?.(answerOf(message));
  }

  #send(message: object): void {
    this.#options.write(`${JSON.stringify(message)}\n`);
  }
}

function answerOf({ result, error }: Fields): PeerAnswer {
  if (error === undefined || error === null) return { result: recordOf(result), error: null };
  return {
    result: null,
    error: textOrNull(recordOf(error)["message"]) ?? "it answered with an error without a reason",
  };
}
