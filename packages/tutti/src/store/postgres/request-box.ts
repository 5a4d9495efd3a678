// A `RequestBox` sends requests from one server to another through the database, so that servers need no other
// connection.
//
// Invariants
// 1. A request is carried out at most once: a server takes it before it begins, and only an untaken one is withdrawn.
// 2. A request follows its run: when another server takes the run over, an untaken request is sent to that one.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import { databaseError } from "./database-error.ts";
import { TuttiError } from "../../schema/error.ts";

export const REQUEST_CHANNEL = "tutti_requests";
export const ANSWER_CHANNEL = "tutti_answers";

/** Within `PATIENCE_MS` another server takes over the runs of one that is gone. */
const PATIENCE_MS = 25_000;
/** `LOOK_MS` bounds the delay after a lost notification. */
const LOOK_MS = 1000;

type RequestHandler = (request: string) => Promise<string>;

interface Watched {
  answer: string | null;
  isTaken: boolean;
  asked: string;
  owner: string | null;
}

export class RequestBox {
  readonly #database: Database;
  readonly #server: string;
  readonly #waiting = new Map<string, () => void>();
  #handler: RequestHandler | null = null;

  constructor(database: Database, server: string) {
    this.#database = database;
    this.#server = server;
  }

  /** `handler` answers the requests of other servers from now on. */
  serve(handler: RequestHandler): void {
    this.#handler = handler;
    this.look();
  }

  /** Call `look` when a request of another server may wait for this one. */
  look(): void {
    if (this.#handler) void this.#takeAll(this.#handler).catch(() => {});
  }

  /** Call `answered` when the answer to the request `id` may be there. */
  answered(id: string): void {
    this.#waiting.get(id)?.();
  }

  /** Returns the answer of the server that owns `run`, or null if that is this server by now. */
  async ask(run: string, request: string): Promise<string | null> {
    try {
      const until = performance.now() + PATIENCE_MS;
      for (;;) {
        const id = randomUUID();
        const { rows } = await this.#database.pool.query<{ server: string }>(
          `INSERT INTO tutti.requests (id, server, request)
           SELECT $1, server, $3 FROM tutti.runs WHERE run = $2 AND server <> $4 RETURNING server`,
          [id, run, request, this.#server],
        );
        if (rows.length === 0) return null;
        await this.#notify(REQUEST_CHANNEL, rows[0]!.server);
        const answer = await this.#wait(id, run, until);
        if (answer !== null) return answer;
      }
    } catch (error) {
      throw databaseError(error, this.#database.place, "send a request");
    }
  }

  /** Returns null if the request was withdrawn, because another server has taken over `run`. */
  async #wait(id: string, run: string, until: number): Promise<string | null> {
    for (;;) {
      await this.#notice(id);
      const { rows } = await this.#database.pool.query<Watched>(
        `SELECT answer, taken AS "isTaken", server AS asked, (SELECT server FROM tutti.runs WHERE run = $2) AS owner
         FROM tutti.requests WHERE id = $1`,
        [id, run],
      );
      const { answer, isTaken, asked, owner } = rows[0]!;
      if (answer !== null) {
        await this.#database.pool.query("DELETE FROM tutti.requests WHERE id = $1", [id]);
        return answer;
      }
      const isLate = performance.now() > until;
      if (isLate || (!isTaken && asked !== owner)) {
        const withdrawn = await this.#database.pool.query("DELETE FROM tutti.requests WHERE id = $1 AND NOT taken", [
          id,
        ]);
        if (withdrawn.rowCount === 1 && !isLate) return null;
      }
      if (isLate) throw noAnswer(run);
    }
  }

  /** Resolves with the notification of the answer, or after `LOOK_MS`: notifications can be lost. */
  async #notice(id: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(id, resolve);
    await Promise.race([promise, sleep(LOOK_MS)]);
    this.#waiting.delete(id);
  }

  async #takeAll(handler: RequestHandler): Promise<void> {
    const { rows } = await this.#database.pool.query<{ id: string; request: string }>(
      "UPDATE tutti.requests SET taken = true WHERE server = $1 AND NOT taken RETURNING id, request",
      [this.#server],
    );
    await Promise.all(
      rows.map(async ({ id, request }) => {
        const answer = await handler(request);
        await this.#database.pool.query("UPDATE tutti.requests SET answer = $2 WHERE id = $1", [id, answer]);
        await this.#notify(ANSWER_CHANNEL, id);
      }),
    );
  }

  async #notify(channel: string, payload: string): Promise<void> {
    await this.#database.pool.query("SELECT pg_notify($1, $2)", [channel, payload]);
  }
}

const noAnswer = (run: string): TuttiError =>
  new TuttiError(
    "server_unreachable",
    `The server that carries on run "${run}" does not answer. Look at the run, then repeat the command if it had no effect.`,
  );
