// `WarmKeeper` holds one keeper that has started its agent before the session is opened. The agent waits for its first
// turn, in the folder of the session that will probably be opened next.
//
// Invariants
// 1. A warm session is no session: the file `warm` in its folder says so until it is claimed. No turn was ever sent to it.
// 2. Its keeper ends the agent and removes the folder when the pipe to this process closes without a claim. So nothing of
//    it outlives this process, even after SIGKILL.
// 3. A session is claimed only with exactly the settings with which its agent was started.
// 4. Only the keeper removes `warm`. The session is claimed once the file is gone.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { startWarmKeeper, type KeeperLaunch } from "./keeper-launch.ts";
import { isWarm, paths, writeSpec, type KeeperSpec } from "./session-folder.ts";
import { writeDurably } from "../../durable-file.ts";
import type { World } from "../../world.ts";

/** A keeper that does not answer within `CLAIM_MS` is stopped or hangs, and the session starts with another one. */
const CLAIM_MS = 5000;

interface WaitingKeeper {
  folder: string;
  pipe: Socket;
  /** The settings of the session, as `settingsOf` writes them. */
  settings: string;
}

export class WarmKeeper {
  readonly #world: World;
  #waiting: WaitingKeeper | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  /** One agent at a time waits, for all runs of this process. */
  get isFree(): boolean {
    return this.#waiting === null;
  }

  /** Calls `prepare` once `folder` is marked as warm. */
  start(folder: string, prepare: () => { spec: KeeperSpec; launch: KeeperLaunch }): void {
    const mark = randomUUID();
    writeDurably(paths(folder).warm, mark, 0o600);
    const { spec, launch } = prepare();
    writeSpec(folder, spec);
    const pipe = startWarmKeeper(folder, spec.sessionId, { ...launch, warm: mark });
    const waiting: WaitingKeeper = { folder, pipe, settings: settingsOf(spec, launch) };
    this.#waiting = waiting;
    // The agent that waits must not keep this process alive.
    pipe.unref();
    // Without a reader, the end of the pipe would go unnoticed.
    pipe.resume();
    pipe.once("close", () => {
      if (this.#waiting === waiting) this.#waiting = null;
    });
  }

  /** Returns true if the waiting agent has these settings and belongs to its session from now on. */
  async claim(folder: string, spec: KeeperSpec, launch: KeeperLaunch): Promise<boolean> {
    const waiting = this.#waiting;
    if (waiting?.folder !== folder || waiting.settings !== settingsOf(spec, launch)) return false;
    this.#waiting = null;
    const { pipe } = waiting;
    pipe.ref();
    const closed = new AbortController();
    pipe.once("close", () => closed.abort());
    pipe.end("claim");
    await this.#world.sleep(CLAIM_MS, closed.signal);
    return existsSync(paths(folder).spec) && !isWarm(folder);
  }
}

const settingsOf = (spec: KeeperSpec, { key, env, secrets }: KeeperLaunch): string =>
  JSON.stringify([spec, key, env, secrets]);
