// The two ends of Codex's JSON-RPC. Answers are given to whoever asked at once and in order, because a process that ends
// takes no time for what comes later.
import { isRecord, recordOf, textOf, type Fields } from "../acp/fields.ts";

export type RequestId = string | number;

export interface PeerOptions {
  write(text: string): void;
  onNotification(method: string, params: Fields): void;
  onRequest(id: RequestId, method: string, params: Fields): void;
}

export type Answer = { result: Fields; error: null } | { result: null; error: string };

/** JSON-RPC's number for what nobody here can do. */
const UNKNOWN_METHOD = -32601;

export class Peer {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<RequestId, (answer: Answer) => void>();
  #last = 0;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: object, answered: (answer: Answer) => void): void {
    const id = ++this.#last;
    this.#waiting.set(id, answered);
    this.#send({ id, method, params });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  respond(id: RequestId, result: object): void {
    this.#send({ id, result });
  }

  /** Whoever asks for something we do not know must not wait for ever. */
  refuse(id: RequestId, method: string): void {
    this.#send({ id, error: { code: UNKNOWN_METHOD, message: `${method} is not supported` } });
  }

  /** What is no message stays in the raw log and means nothing. */
  hear(line: string): void {
    const message = parse(line);
    const { id, method, params } = message;
    const isId = typeof id === "string" || typeof id === "number";
    if (typeof method === "string") {
      if (isId) this.#options.onRequest(id, method, recordOf(params));
      else this.#options.onNotification(method, recordOf(params));
      return;
    }
    if (!isId) return;
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.(answerOf(message));
  }

  #send(message: object): void {
    this.#options.write(`${JSON.stringify(message)}\n`);
  }
}

function answerOf({ result, error }: Fields): Answer {
  if (error === undefined || error === null) return { result: recordOf(result), error: null };
  return { result: null, error: textOf(recordOf(error)["message"]) ?? "it answered with an error and gave no reason" };
}

function parse(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
