import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../world.ts";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** `ReadPace` lets about 12 MB through in this time. */
const CHECK_MS = 250;
/** Above this, `room` waits, and clients that have read nothing for `STALLED_MS` lose their connections. */
const CROWDED_BYTES = 24 * 1024 * 1024;
const STALLED_MS = 1000;
const WAIT_MS = 40;

/** An answer to a request, or the connection of a WebSocket. */
type Answer = ServerResponse | Socket;

interface Reading {
  sentBytes: number;
  /** The time for which the client was seen to read nothing. */
  idleMs: number;
}

/**
 * `UnreadAnswers` limits the bytes of all answers together that clients have not read. Beyond `maxBytes`, it closes the
 * connections of the clients that have read nothing for the longest time.
 */
export class UnreadAnswers {
  readonly #maxBytes: number;
  readonly #crowdedBytes: number;
  readonly #open = new Map<Answer, Reading>();
  #checkedAt = monotonicMs();

  constructor(maxBytes = MAX_UNREAD_BYTES, crowdedBytes = CROWDED_BYTES) {
    this.#maxBytes = maxBytes;
    this.#crowdedBytes = crowdedBytes;
  }

  watch(server: Server): void {
    server.on("request", (_request, response) => this.#add(response));
    server.on("upgrade", (_request, socket) => this.#add(socket as Socket));
    const timer = setInterval(() => this.#cut(this.#maxBytes, 0), CHECK_MS).unref();
    server.once("close", () => clearInterval(timer));
  }

  /** Waits until another part of a large answer fits into memory. */
  async room(): Promise<void> {
    while (this.#cut(this.#crowdedBytes, STALLED_MS) > this.#crowdedBytes) await sleep(WAIT_MS);
  }

  #add(answer: Answer): void {
    this.#open.set(answer, { sentBytes: 0, idleMs: 0 });
    answer.once("close", () => this.#open.delete(answer));
  }

  /**
   * Closes connections without progress for `stalledMs`, the longest first, until at most `limit` bytes are unread.
   * Returns the number of bytes that are still unread.
   */
  #cut(limit: number, stalledMs: number): number {
    const now = monotonicMs();
    // While this process does not run, it sends nothing that a client could read, so a late check counts as one interval.
    const passedMs = Math.min(now - this.#checkedAt, CHECK_MS);
    this.#checkedAt = now;
    let unread = 0;
    for (const [answer, reading] of this.#open) {
      unread += answer.writableLength;
      const sentBytes = countSent(answer);
      const idleMs = sentBytes === reading.sentBytes ? reading.idleMs + passedMs : 0;
      this.#open.set(answer, { sentBytes, idleMs });
    }
    if (unread <= limit) return unread;
    for (const [answer, { idleMs }] of [...this.#open].sort(([, a], [, b]) => b.idleMs - a.idleMs)) {
      if (unread <= limit || idleMs < stalledMs) break;
      unread -= answer.writableLength;
      if (answer.writableLength > 0) answer.destroy();
    }
    return unread;
  }
}

/** During one large write, only the handle of the socket shows that the client reads. */
function countSent(answer: Answer): number {
  const socket: (Socket & { _handle?: { writeQueueSize?: number } }) | null =
    "bytesWritten" in answer ? answer : answer.socket;
  return (socket?.bytesWritten ?? 0) - answer.writableLength - (socket?._handle?.writeQueueSize ?? 0);
}

/** All servers of this process share its memory. */
export const unreadAnswers = new UnreadAnswers();
