import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** In requests of one connection. Browsers and Node send none before the answer to the one before. */
const MAX_WAITING = 100;

interface WaitingRequest {
  response: ServerResponse;
  handle: () => void;
}

/**
 * `PipelinedRequests` carries out the requests of one connection one after the other. Node would start all of them at once,
 * and keep the answers in memory until the client has read those before.
 */
export class PipelinedRequests {
  /** Has the connections with an open request. */
  readonly #waiting = new WeakMap<Socket, WaitingRequest[]>();

  /** A client that sends more than `MAX_WAITING` requests ahead loses its connection. */
  take({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#start(socket, { response, handle });
    } else if (waiting.length < MAX_WAITING) waiting.push({ response, handle });
    else socket.destroy();
  }

  /** Whether an answer is still to be sent on the connection. */
  isBusy(socket: Duplex): boolean {
    return this.#waiting.has(socket as Socket);
  }

  #start(socket: Socket, { response, handle }: WaitingRequest): void {
    response.once("close", () => {
      const next = this.#waiting.get(socket)?.shift();
      if (next === undefined || socket.destroyed) this.#waiting.delete(socket);
      else this.#start(socket, next);
    });
    handle();
  }
}
