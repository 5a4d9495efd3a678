// `SpareKeeper` holds keeper processes that have started and loaded everything, and wait for a session. The next session
// then pays for no process start. A keeper whose session was closed after its work waits here for another one.
//
// Invariants
// 1. A keeper that waits is no session: it has no folder and no `keeper.json`, and no list counts it.
// 2. It reads its sessions from a pipe of this process, and exits when that pipe closes. So it ends with this process,
//    even after SIGKILL, or with its session if it has one.
// 3. It waits only while a session of this process is live or expected.
// 4. A keeper that dies before its session has started costs time, but no session: `hand` then calls `onDeath`, which
//    starts another one.
import type { Socket } from "node:net";
import { isSignalled } from "./end-session.ts";
import { startSpareKeeper, type SpareLaunch, type SpareReport } from "./keeper-launch.ts";
import type { DialogueName } from "../dialogues.ts";

/** More keepers than `MAX_WAITING` end with their session. Each takes the memory of a Node process. */
const MAX_WAITING = 8;
/** All but one end when no session has come for `EXTRA_MS`. */
const EXTRA_MS = 5000;

interface Spare {
  pipe: Socket;
  /** Null until it has reported. */
  pid: number | null;
  hasWaited: boolean;
  isReleased: boolean;
  /** The session that it has received and not ended. */
  session: HandedSession | null;
  extra: NodeJS.Timeout | null;
}

interface HandedSession {
  hasStarted: boolean;
  onDeath: () => void;
  free: () => void;
}

export class SpareKeeper {
  /** The folder of all sessions. */
  readonly #folder: string;
  #liveSessions = 0;
  /** Spares that are still starting, then spares that wait for a session. */
  #waiting: Spare[] = [];
  /** A spare has ended instead of waiting, for example because `prlimit` is missing. No other one is tried. */
  #cannotWait = false;
  readonly #exits = new Set<Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Called when a session will start soon: its keeper starts while its workspace is made. Returns as `addSession` does. */
  expectSession(): () => void {
    const removeSession = this.addSession();
    this.prepare(null);
    return removeSession;
  }

  /** Called when a session becomes live. Returns the function to call when it is not live any more; it may be repeated. */
  addSession(): () => void {
    this.#liveSessions += 1;
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      this.#liveSessions -= 1;
      if (this.#liveSessions === 0) for (const spare of this.#waiting.splice(0)) this.#release(spare);
    };
  }

  /** Called when a session is at work and the machine has time. A new spare loads the same `dialogue` in advance. */
  prepare(dialogue: DialogueName | null): void {
    if (this.#waiting.length > 0 || this.#liveSessions === 0 || this.#cannotWait) return;
    const pipe = startSpareKeeper(this.#folder, dialogue === null ? [] : [dialogue]);
    const spare: Spare = { pipe, pid: null, hasWaited: false, isReleased: false, session: null, extra: null };
    this.#waiting.push(spare);
    // The spare must not keep this process alive.
    pipe.unref();
    let text = "";
    pipe.setEncoding("utf8").on("data", (part: string) => {
      const lines = (text + part).split("\n");
      text = lines.pop()!;
      for (const line of lines) this.#onReport(spare, JSON.parse(line) as SpareReport);
    });
    pipe.once("close", () => {
      this.#waiting = this.#waiting.filter((each) => each !== spare);
      if (!spare.hasWaited && !spare.isReleased) this.#cannotWait = true;
      if (spare.session?.hasStarted === false) spare.session.onDeath();
      spare.session?.free();
    });
  }

  #onReport(spare: Spare, { type, pid }: SpareReport): void {
    const { pipe, session } = spare;
    spare.pid = pid;
    if (type === "started") {
      session!.hasStarted = true;
      pipe.unref();
      return;
    }
    spare.hasWaited = true;
    // This spare has just started. It reads its first session next.
    if (session?.hasStarted !== true) return;
    spare.session = null;
    if (this.#liveSessions > 0 && this.#waiting.length < MAX_WAITING) this.#keep(spare);
    else this.#release(spare);
    session.free();
  }

  #keep(spare: Spare): void {
    this.#waiting.push(spare);
    spare.extra = setTimeout(() => {
      if (this.#waiting.length === 1) return;
      this.#waiting = this.#waiting.filter((each) => each !== spare);
      this.#release(spare);
    }, EXTRA_MS).unref();
  }

  get isWaiting(): boolean {
    return this.#waiting.some(({ hasWaited }) => hasWaited);
  }

  /**
   * Gives a spare its session, which a spare that is still starting reads when it is ready. Null without a spare.
   * `isFree` resolves when the spare waits again or has exited.
   */
  hand(given: SpareLaunch, onDeath: () => void): { isFree: Promise<void> } | null {
    const spare = this.#takeWaiting();
    if (!spare) return null;
    if (spare.extra) clearTimeout(spare.extra);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    spare.session = { hasStarted: false, onDeath, free };
    spare.pipe.ref();
    spare.pipe.write(`${JSON.stringify(given)}\n`);
    return { isFree };
  }

  #takeWaiting(): Spare | undefined {
    const at = this.#waiting.findLastIndex(({ pid }) => pid === null || !isSignalled(pid));
    return at === -1 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  #release(spare: Spare): void {
    spare.isReleased = true;
    if (spare.extra) clearTimeout(spare.extra);
    const { pipe } = spare;
    // A keeper that has died may still have its timer, and its `close` event will not come again.
    if (pipe.closed) return;
    this.addExit(new Promise((resolve) => pipe.once("close", resolve)));
    // Not `destroy`: the other end closes when the spare exits, which `settled` waits for.
    pipe.ref();
    pipe.end();
  }

  /** `settled` waits for `exit`, too. */
  addExit(exit: Promise<void>): void {
    const ended = exit.finally(() => this.#exits.delete(ended));
    this.#exits.add(ended);
  }

  /** Resolves when every released spare has exited, and so has the keeper of every session that has ended. */
  async settled(): Promise<void> {
    // A keeper that is free again may be released then, which adds an exit. Later ones are of other sessions.
    for (let round = 0; round < 2; round++) await Promise.all(this.#exits);
  }
}
