// `DatabaseListener` receives notifications on one connection, and opens another whenever it is lost.
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { SqlConnection } from "./sql-client.ts";

const RETRY_MS = 500;

interface ListenerOptions {
  database: Database;
  /** Maps each channel to a function that receives the payload of its notifications. */
  channels: Readonly<Record<string, (payload: string) => void>>;
  /** `connected` is called after every connect: notifications that were sent before are lost. */
  connected: () => void;
}

export class DatabaseListener {
  readonly #options: ListenerOptions;
  #client: SqlConnection | null = null;
  #closed = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
  }

  static async open(options: ListenerOptions): Promise<DatabaseListener> {
    const listener = new DatabaseListener(options);
    await listener.#connect();
    return listener;
  }

  async #connect(): Promise<void> {
    const { database, channels, connected } = this.#options;
    const client = await database.connect();
    try {
      client.on("notification", ({ channel, payload = "" }) => channels[channel]?.(payload));
      for (const channel of Object.keys(channels)) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) return client.end();
    client.on("end", () => void this.#reconnect());
    this.#client = client;
    connected();
  }

  async #reconnect(): Promise<void> {
    this.#client = null;
    while (!this.#closed && this.#client === null) {
      await this.#connect().catch(() => sleep(RETRY_MS));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => {});
  }
}
