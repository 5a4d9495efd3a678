import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";

const GOING_AWAY = 1001;
const MISSED_BEATS = 2;

export class SocketOutlet implements Outlet {
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  #taken: Promise<void> = Promise.resolve();
  #unanswered = 0;
  /** The last ping of the client that is not answered yet. */
  #ping: Buffer | null = null;
  #isAnswering = false;

  /**
   * `connection` is the raw stream under `socket`. Batches are framed once for all clients and written to it directly,
   * because `ws` would frame each message again for each client. Compression is off, so `ws` never delays a message that
   * such a write could overtake.
   */
  constructor(socket: WebSocket, connection: Duplex) {
    this.#socket = socket;
    this.#connection = connection;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("pong", () => (this.#unanswered = 0));
    socket.on("ping", (data) => {
      this.#ping = data;
      if (!this.#isAnswering) this.#answerPing();
    });
  }

  /**
   * Answers only the last of the pings that arrive while the client reads no answer. Otherwise a client that sends pings
   * alone would fill the memory with answers.
   */
  #answerPing(): void {
    this.#isAnswering = this.#ping !== null;
    if (this.#ping === null) return;
    const data = this.#ping;
    this.#ping = null;
    this.#socket.pong(data, false, () => this.#answerPing());
  }

  send({ webSocket }: Batch): number {
    // RFC 6455 allows no message after a close frame.
    if (this.#socket.readyState !== this.#socket.OPEN) return 0;
    this.#taken = new Promise((resolve) => this.#connection.write(webSocket, () => resolve()));
    return webSocket.length;
  }

  buffered(): number {
    return this.#socket.bufferedAmount;
  }

  taken(): Promise<void> {
    return this.#taken;
  }

  beat(): void {
    if (this.#unanswered >= MISSED_BEATS) return this.cut();
    this.#unanswered += 1;
    this.#socket.ping();
  }

  end(): void {
    this.#socket.close(GOING_AWAY, "The server is shutting down.");
  }

  cut(): void {
    this.#socket.terminate();
  }
}
