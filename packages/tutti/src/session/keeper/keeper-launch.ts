// `startKeeper` passes the key, the agent's environment and the secrets to mask through a pipe: other processes of the
// same user can read the arguments, the environment and the files of a process.
import { spawn } from "node:child_process";
import { closeSync, readFileSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { dirname } from "node:path";
import { programFile } from "../../own-files.ts";
import type { ResumedConversation } from "../dialogue.ts";
import { lockLimitOf, SET_LOCK_LIMIT } from "./session-processes.ts";

export interface KeeperLaunch {
  /** `key` signs the requests to this keeper. */
  key: string;
  env: Record<string, string>;
  /** Values that must not appear in any file of the session. */
  secrets: string[];
  /** `revival` is set for a keeper that continues a suspended session. */
  revival?: Revival;
  /** The content of the file `warm`. It is set for a keeper that starts its agent before the session; see `WarmKeeper`. */
  warm?: string;
}

export interface Revival extends ResumedConversation {
  command: string[];
}

/** A spare keeper learns its session only at the hand-over. */
export interface SpareLaunch {
  folder: string;
  sessionId: string;
  launch: KeeperLaunch;
}

/**
 * `KEEPER_ENV` is needed by a keeper itself. `TUTTI_SESSION_KEY` and `TUTTI_RUN_ID` are set only if an agent of another
 * Tutti has started this one: the end of that agent's session finds this keeper by them.
 */
const KEEPER_ENV = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "NODE_COMPILE_CACHE", "TUTTI_PROCESS_TABLE"].concat([
  "TUTTI_SESSION_KEY",
  "TUTTI_RUN_ID",
]);
const LAUNCH_FD = 3;
const LINE_BREAK = 10;

/** The argument of a keeper that waits for its session. */
export const SPARE = "--spare";
/** The second argument of a keeper that reads one line, and leaves the pipe open for `whenClaimed`. */
export const WARM = "--warm";

/**
 * The shell starts the keeper in the background and exits at once. The keeper is then no child of this process and has
 * its own process session, so killing this process's tree, group or terminal does not reach it. It inherits the shell's
 * limit for file locks, which marks the session (`lockLimitOf`).
 */
const IN_BACKGROUND = 'shift; "$@" </dev/null >/dev/null 2>&1 &';
const MARKED = `${SET_LOCK_LIMIT}; ${IN_BACKGROUND}`;

export function startKeeper(folder: string, sessionId: string, launch: KeeperLaunch): void {
  const pipe = spawnKeeper(folder, [MARKED, "sh", String(lockLimitOf(sessionId))], [folder]);
  pipe.end(JSON.stringify(launch));
}

/** Returns the pipe on which the session is claimed. The keeper ends when it closes. */
export function startWarmKeeper(folder: string, sessionId: string, launch: KeeperLaunch): Socket {
  const pipe = spawnKeeper(folder, [MARKED, "sh", String(lockLimitOf(sessionId))], [folder, WARM]);
  pipe.write(`${JSON.stringify(launch)}\n`);
  return pipe;
}

/** `folder` is that of all sessions. Returns the pipe on which the keeper reports, and reads its sessions. */
export const startSpareKeeper = (folder: string, args: readonly string[]): Socket =>
  // Before the first session `folder` does not exist.
  spawnKeeper(dirname(folder), [IN_BACKGROUND, "sh", ""], [SPARE, folder, ...args]);

function spawnKeeper(cwd: string, script: readonly string[], args: readonly string[]): Socket {
  const keeper = [process.execPath, programFile("session/keeper/keeper"), ...args];
  const shell = spawn("/bin/sh", ["-c", ...script, ...keeper], {
    cwd,
    env: pickEnv(process.env, KEEPER_ENV),
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    detached: true,
  });
  // If the shell cannot start, no `keeper.json` appears, which the session reports after a while.
  shell.on("error", () => {});
  shell.unref();
  // Node opens a `Socket` for a pipe, although its types promise only a stream.
  const pipe = shell.stdio[LAUNCH_FD] as unknown as Socket;
  pipe.on("error", () => {});
  return pipe;
}

/** `readLaunch` is called once by a keeper that was started for a session. Null if the engine died before it had written everything. */
export function readLaunch<T>(): T | null {
  try {
    return JSON.parse(readFileSync(LAUNCH_FD, "utf8")) as T;
  } catch {
    return null;
  }
}

/** Like `readLaunch`, but reads a line. JSON has no other line break. */
export function readLaunchLine(): KeeperLaunch | null {
  const pieces: Buffer[] = [];
  const piece = Buffer.alloc(64 * 1024);
  for (;;) {
    const length = readSync(LAUNCH_FD, piece);
    if (length === 0) return null;
    pieces.push(Buffer.from(piece.subarray(0, length)));
    if (piece[length - 1] === LINE_BREAK) return JSON.parse(Buffer.concat(pieces).toString("utf8")) as KeeperLaunch;
  }
}

/** Calls `onClaim` when the engine claims the session, or `onEnd` when it ends or wants no warm session any more. */
export function whenClaimed(onClaim: () => void, onEnd: () => void): void {
  const pipe = new Socket({ fd: LAUNCH_FD });
  let isClaimed = false;
  pipe.on("error", () => {});
  pipe.once("data", () => {
    isClaimed = true;
    onClaim();
    // The engine waits for the end of the pipe.
    pipe.destroy();
  });
  pipe.once("close", () => void (isClaimed || onEnd()));
}

/** The end of the pipe shows the engine whether `keeper.json` exists or never will. */
export const closeLaunch = (): void => closeSync(LAUNCH_FD);

/** A spare keeper reports as lines that it waits for a session, or that `keeper.json` of its session exists. */
export interface SpareReport {
  type: "waiting" | "started";
  pid: number;
}

/** The spare keeper's end of the pipe to its engine. `SpareKeeper` has the other end. */
export class EnginePipe {
  /** Half open, so that the pipe closes with this process: `SpareKeeper` waits for its end that way. */
  readonly #socket = new Socket({ fd: LAUNCH_FD, allowHalfOpen: true });
  #text = "";
  #wake: (() => void) | null = null;
  /** False when the engine has ended or needs this keeper no longer. */
  isOpen = true;

  constructor() {
    this.#socket.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      this.#wake?.();
    });
    this.#socket.on("error", () => {});
    for (const event of ["end", "close"]) this.#socket.once(event, () => this.#end());
  }

  #end(): void {
    this.isOpen = false;
    this.#wake?.();
  }

  report(type: SpareReport["type"]): void {
    this.#socket.write(`${JSON.stringify({ type, pid: process.pid } satisfies SpareReport)}\n`);
  }

  /** Resolves with the next session, or with null when the pipe has ended. */
  async read(): Promise<SpareLaunch | null> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end !== -1) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return JSON.parse(line) as SpareLaunch;
      }
      if (!this.isOpen) return null;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Every agent receives `PASSED_ENV` of the engine's environment. None of them is a secret. */
export const PASSED_ENV = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];

/** `pickEnv` leaves out `names` that are not set. */
export function pickEnv(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
