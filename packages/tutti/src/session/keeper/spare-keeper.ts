// `SpareKeeper` holds one keeper process that has started and loaded everything, and waits for its session. The next
// session then pays for no process start.
//
// Invariants
// 1. The spare is no session: it has no folder and no `keeper.json`, and no list counts it.
// 2. It reads its session from a pipe of this process, and exits when that pipe closes. So it ends with this process,
//    even after SIGKILL.
// 3. It waits only while a session of this process is live or expected.
// 4. A spare that dies costs time, but no session: `hand` then calls `onDeath`, which starts another keeper.
import type { Socket } from "node:net";
import { startSpareKeeper, type SpareLaunch } from "./keeper-launch.ts";
import type { DialogueName } from "../dialogues.ts";

interface Spare {
  pipe: Socket;
  isWaiting: boolean;
  isReleased: boolean;
}

export class SpareKeeper {
  /** The folder of all sessions. */
  readonly #folder: string;
  #liveSessions = 0;
  #spare: Spare | null = null;
  /** A spare has ended instead of waiting, for example because `prlimit` is missing. No other one is tried. */
  #cannotWait = false;
  /** Spares that were released and have not exited yet. */
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
      if (this.#liveSessions === 0) this.#release();
    };
  }

  /** Called when a session is at work and the machine has time. The spare loads the same `dialogue` in advance. */
  prepare(dialogue: DialogueName | null): void {
    if (this.#spare !== null || this.#liveSessions === 0 || this.#cannotWait) return;
    const pipe = startSpareKeeper(this.#folder, dialogue === null ? [] : [dialogue]);
    const spare: Spare = { pipe, isWaiting: false, isReleased: false };
    this.#spare = spare;
    // The spare must not keep this process alive.
    pipe.unref();
    pipe.once("data", () => (spare.isWaiting = true));
    pipe.once("close", () => {
      if (this.#spare === spare) this.#spare = null;
      if (!spare.isWaiting && !spare.isReleased) this.#cannotWait = true;
    });
  }

  get isWaiting(): boolean {
    return this.#spare?.isWaiting === true;
  }

  /** Gives the spare its session, which a spare that is still starting reads when it is ready. False without a spare. */
  hand(given: SpareLaunch, onDeath: () => void): boolean {
    const spare = this.#spare;
    if (!spare) return false;
    this.#spare = null;
    spare.pipe.ref();
    spare.pipe.once("close", onDeath);
    spare.pipe.end(JSON.stringify(given));
    return true;
  }

  #release(): void {
    const spare = this.#spare;
    this.#spare = null;
    if (!spare) return;
    spare.isReleased = true;
    const { pipe } = spare;
    const exit = new Promise<void>((resolve) => pipe.once("close", resolve)).finally(() => this.#exits.delete(exit));
    this.#exits.add(exit);
    // Not `destroy`: the other end closes when the spare exits, which `settled` waits for.
    pipe.ref();
    pipe.end();
  }

  /** Resolves when every released spare has exited. */
  async settled(): Promise<void> {
    await Promise.all(this.#exits);
  }
}
