// Sends live events as server-sent events. It writes to the `ServerResponse` directly, because a stream object per client
// would cost more than the rest of the delivery.
import type { ServerResponse } from "node:http";
import type { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";

const RETRY_MS = 2000;

export class EventStream implements Outlet {
  readonly closed: Promise<void>;
  readonly #response: ServerResponse;
  #taken: Promise<void> = Promise.resolve();

  constructor(response: ServerResponse, headers: Record<string, string>) {
    this.#response = response;
    this.closed = new Promise((resolve) => {
      if (response.destroyed) resolve();
      else response.once("close", resolve);
    });
    // A client may disconnect during a write; `closed` handles that.
    response.on("error", () => {});
    response.writeHead(200, { ...headers, "Content-Type": "text/event-stream; charset=utf-8" });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  send({ stream }: Batch): number {
    this.#taken = new Promise((resolve) => this.#response.write(stream, () => resolve()));
    return stream.length;
  }

  buffered(): number {
    return this.#response.writableLength;
  }

  taken(): Promise<void> {
    return this.#taken;
  }

  beat(): void {
    this.#response.write(":\n\n");
  }

  end(): void {
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }
}
