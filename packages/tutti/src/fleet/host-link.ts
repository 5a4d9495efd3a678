// `HostLink` is a host's access to the database: it calls the functions of `host-tables.ts`, and repeats them until the
// database can be reached.
import { HOST_REMOVED, HOST_UNKNOWN } from "./host-tables.ts";
import { retryQuery } from "./retry-query.ts";
import { TuttiError } from "../schema/error.ts";
import type { Database } from "../store/postgres/database.ts";
import { databaseError } from "../store/postgres/database-error.ts";
import type { World } from "../world.ts";

export interface HostFacts {
  name: string;
  labels: Readonly<Record<string, string>>;
  capacity: number;
  version: string;
  facts: { agents: string[]; memory: number; cpus: number };
}

export interface TakenAttempt {
  key: string;
  run: string;
  session: string;
  token: string;
}

export interface Beat {
  drained: boolean;
  leaseMs: number;
  /** Maps the key of each attempt that the host holds to the position of its last stored signal. */
  held: Record<string, number>;
}

interface HostReport {
  signals: { at: number; body: string }[];
  entries: { n: number; body: string }[];
}

export class HostLink {
  readonly #database: Database;
  readonly #world: World;
  readonly #ended = new AbortController();
  #id: string;

  constructor(database: Database, id: string, world: World) {
    this.#database = database;
    this.#world = world;
    this.#id = id;
  }

  /**
   * Gives up all attempts of the host except `known`. Unlike `beat` it is not repeated: a host that was never connected
   * must report what is wrong.
   */
  async join(
    { name, labels, capacity, version, facts }: HostFacts,
    known: readonly string[],
  ): Promise<{ id: string; name: string }> {
    const values = [this.#id, name, labels, capacity, version, facts, known];
    const joined = await this.#run<{ id: string; name: string }>("host_join($1, $2, $3, $4, $5, $6, $7)", values);
    this.#id = joined.id;
    return joined;
  }

  beat(leaving: boolean): Promise<Beat> {
    return this.#repeat<Beat>("host_beat($1, $2)", [this.#id, leaving]);
  }

  take(): Promise<TakenAttempt | null> {
    return this.#repeat<TakenAttempt | null>("host_take($1)", [this.#id]);
  }

  async requests({ key, token }: TakenAttempt, after: number): Promise<{ n: number; body: string; done: boolean }[]> {
    return retryQuery(
      async () => {
        const text = "SELECT n, body, done FROM tutti_hosts.host_requests($1, $2, $3, $4)";
        const { rows } = await this.#database.pool
          .query<{ n: number; body: string; done: boolean }>(text, [this.#id, key, token, after])
          .catch((error: unknown) => this.#fail(error));
        return rows;
      },
      this.#world,
      this.#ended.signal,
    );
  }

  /** `reply`, `report` and `release` return false if the host no longer holds the attempt. */
  reply({ key, token }: TakenAttempt, n: number, reply: string): Promise<boolean> {
    return this.#repeat<boolean>("host_reply($1, $2, $3, $4, $5)", [this.#id, key, token, n, reply]);
  }

  report({ key, token }: TakenAttempt, { signals, entries }: HostReport): Promise<boolean> {
    return this.#repeat<boolean>("host_report($1, $2, $3, $4, $5, $6, $7)", [
      this.#id,
      key,
      token,
      signals.map(({ at }) => at),
      signals.map(({ body }) => body),
      entries.map(({ n }) => n),
      entries.map(({ body }) => body),
    ]);
  }

  release({ key, token }: TakenAttempt, reason: string): Promise<boolean> {
    return this.#repeat<boolean>("host_release($1, $2, $3, $4)", [this.#id, key, token, reason]);
  }

  #repeat<T>(call: string, values: unknown[]): Promise<T> {
    return retryQuery(() => this.#run<T>(call, values), this.#world, this.#ended.signal);
  }

  async #run<T>(call: string, values: unknown[]): Promise<T> {
    const { rows } = await this.#database.pool
      .query<{ value: T }>(`SELECT tutti_hosts.${call} AS value`, values)
      .catch((error: unknown) => this.#fail(error));
    return rows[0]!.value;
  }

  #fail(error: unknown): never {
    const { code, message } = error as { code?: string; message: string };
    // A login that the user has revoked counts as `HOST_REMOVED`: it can do nothing more either.
    if (code === HOST_REMOVED || code === "28000" || code === "28P01" || code === "42501")
      throw new TuttiError("host_removed", `${message} Add it again with "tutti hosts add".`, { cause: error });
    if (code === HOST_UNKNOWN)
      throw new TuttiError("database_refused", `${message} Create one with "tutti hosts add".`, { cause: error });
    // Undefined schema or function.
    if (code === "3F000" || code === "42883")
      throw new TuttiError(
        "database_refused",
        `The database ${this.#database.place} has no tables of Tutti. Start "tutti serve --database-url" first.`,
        { cause: error },
      );
    throw databaseError(error, this.#database.place, "report");
  }

  /** Ends the repetitions of `retryQuery`. */
  close(): void {
    this.#ended.abort();
  }
}
