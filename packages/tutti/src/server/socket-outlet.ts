// Live events over a WebSocket.
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

  /**
   * `connection` is what the WebSocket was made on. Messages are written to it as they are, framed once for all clients:
   * `ws` would frame and write each of them for each client. Nothing is compressed, so `ws` never holds a message back that
   * ours could overtake.
   */
  constructor(socket: WebSocket, connection: Duplex) {
    this.#socket = socket;
    this.#connection = connection;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("pong", () => (this.#unanswered = 0));
  }

  send(batch: Batch): void {
    // After a goodbye nothing may follow.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#taken = new Promise((resolve) => this.#connection.write(batch.webSocket, () => resolve()));
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
    this.#socket.close(GOING_AWAY, "the server is closing");
  }

  cut(): void {
    this.#socket.terminate();
  }
}
