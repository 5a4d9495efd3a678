// Live events over a WebSocket.
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { SharedFrame } from "./frame.ts";
import type { Outlet } from "./outlet.ts";

const GOING_AWAY = 1001;
const MISSED_BEATS = 2;

export class SocketOutlet implements Outlet {
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  #taken: Promise<void> = Promise.resolve();
  #unanswered = 0;

  /** `connection` is what the WebSocket was made on; holding it back for a moment joins frames into one write. */
  constructor(socket: WebSocket, connection: Duplex) {
    this.#socket = socket;
    this.#connection = connection;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("pong", () => (this.#unanswered = 0));
  }

  send(frames: readonly SharedFrame[]): void {
    this.#connection.cork();
    for (const { text } of frames.slice(0, -1)) this.#socket.send(text);
    this.#taken = new Promise((resolve) => this.#socket.send(frames.at(-1)!.text, () => resolve()));
    this.#connection.uncork();
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
