// `HostLink` is a host's access to the database: it calls the functions of `host-tables.ts`, and repeats them until the
// database can be reached.
import type { ReceivedRequest } from "./host-traffic.ts";
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
  /** `HostNeeds` are compared with these. */
  facts: { agents: string[]; sandbox: boolean; memory: number; cpus: number };
}

/** The part of `HostFacts` that a host must have for an attempt. */
export interface HostNeeds {
  agents?: string[];
  sandbox?: true;
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

/** A `HostReport` reads the requests of an attempt after `after`, and stores its news. */
export interface HostReport {
  key: string;
  token: string;
  after: number;
  hasNews?: boolean;
  replies?: { n: number; reply: string }[];
  signals?: { at: number; body: string }[];
  entries?: { n: number; body: string }[];
}

interface Sync {
  taken: TakenAttempt[];
  /** Whether attempts that fit the host are left. */
  more: boolean;
  /** Sorted by the numbers under which the server stored them. */
  requests: (ReceivedRequest & { key: string })[];
}

export class HostLink {
  readonly #database: Database;
  readonly #world: World;
  readonly #ended = new AbortController();
  #id: string;
  #facts: HostFacts | null = null;

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
    this.#facts = { name, labels, capacity, version, facts };
    const values = [this.#id, name, labels, capacity, version, facts, known];
    const joined = await this.#run<{ id: string; name: string }>("host_join($1, $2, $3, $4, $5, $6, $7)", values);
    this.#id = joined.id;
    return joined;
  }

  beat(leaving: boolean): Promise<Beat> {
    return this.#repeat<Beat>("host_beat($1, $2)", [this.#id, leaving]);
  }

  /**
   * Stores `reports`, reads requests and takes up to `room` attempts. A call with a lost result may have taken attempts
   * that the host does not know, so the host joins again with the attempts that are `known`.
   */
  async sync(reports: readonly HostReport[], room: number, known: readonly string[]): Promise<Sync> {
    let isLost = false;
    const work = async (): Promise<Sync> => {
      if (isLost && room > 0 && this.#facts) await this.join(this.#facts, known);
      isLost = true;
      return this.#run<Sync>("host_sync($1, $2, $3)", [this.#id, JSON.stringify(reports), room]);
    };
    return retryQuery(work, this.#world, this.#ended.signal);
  }

  /** Returns false if the host no longer holds the attempt. */
  release({ key, token }: TakenAttempt, reason: string): Promise<boolean> {
    return this.#repeat<boolean>("host_release($1, $2, $3, $4)", [this.#id, key, token, reason]);
  }

  #repeat<T>(call: string, values: unknown[]): Promise<T> {
    return retryQuery(() => this.#run<T>(call, values), this.#world, this.#ended.signal);
  }

  async #run<T>(call: string, values: unknown[]): Promise<T> {
    const { rows } = await this.#database.pool
      .query<{ value: T }>({ name: call, text: `SELECT tutti_hosts.${call} AS value`, values })
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
