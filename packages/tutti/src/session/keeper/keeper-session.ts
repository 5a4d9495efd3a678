import { accessSync, constants, existsSync, statSync, watch, type FSWatcher } from "node:fs";
import { newDecoder } from "../agents.ts";
import type { ResumedConversation } from "../dialogue.ts";
import type { Coding, Driver, Launch } from "../driver.ts";
import { endSession, KEEPER_EXIT_MS, untilKeeperExited } from "./end-session.ts";
import type { Secrets } from "../secrets/find-secrets.ts";
import { maskLeftovers } from "../secrets/mask-file.ts";
import { startKeeper, type KeeperLaunch } from "./keeper-launch.ts";
import { identify, isAlive } from "../process.ts";
import { SessionReader, wireName } from "./read-session.ts";
import {
  answerName,
  endUnstarted,
  hasRequest,
  interruptName,
  isBeforeBoot,
  makeSessionFolder,
  paths,
  readEnd,
  readKeeper,
  request,
  turnName,
  writeSessionFile,
  writeSessionFiles,
  writeSpec,
  type KeeperRequest,
  type KeeperSpec,
  type SessionEnd,
} from "./session-folder.ts";
import { sweepSession } from "./session-processes.ts";
import type { SpareKeeper } from "./spare-keeper.ts";
import { isToolQuestion } from "../tools/tool-desk.ts";
import { TimeSlice } from "../time-slice.ts";
import type { Session, SessionSignal, Turn } from "../session.ts";
import { ignoreUnwritable, removeFile, tryToWrite } from "../../durable-file.ts";
import { pathName } from "../../schema/ids.ts";
import type { World } from "../../world.ts";

/** The folder is polled as well, every `POLL_MS`, because file notifications can be missing. */
const POLL_MS = 250;
/** A keeper without `keeper.json` after `KEEPER_START_MS` has failed to start. */
const KEEPER_START_MS = 30_000;
/** The time that a keeper needs beyond its `graceMs` to end an agent that does not exit by itself. */
const CLOSE_MS = 5000;
/** An agent that works for less than `SPARE_AFTER_MS` is done before a spare keeper could have started. */
const SPARE_AFTER_MS = 100;

interface KeeperSessionOptions {
  folder: string;
  driver: Driver;
  launch: Launch;
  spec: KeeperSpec;
  keeperLaunch: () => KeeperLaunch;
  /** `revivalLaunch` continues the session; null if the agent cannot resume conversations. */
  revivalLaunch: ((resumed: ResumedConversation) => KeeperLaunch) | null;
  /** `sessionKey` signs requests to the keeper. */
  sessionKey: () => string;
  secrets: Secrets;
  world: World;
  /** Null if every session starts a keeper of its own. */
  spare: SpareKeeper | null;
}

export class KeeperSession implements Session {
  readonly sessionId: string;
  readonly #options: KeeperSessionOptions;
  readonly #left = new AbortController();
  #wake = new AbortController();
  /** The reader of `signals`. `#isOver` starts from its position. */
  #reader: SessionReader | null = null;
  /** `#talk` is the state of the conversation, from the signals so far. */
  readonly #talk = {
    id: null as string | null,
    hasBegun: false,
    revivals: 0,
    used: { inputTokens: 0, outputTokens: 0, usd: 0 },
  };
  readonly #revival = Promise.withResolvers<void>();
  /** Resolves when the keeper, which was a spare, waits again or has exited. Null if no spare keeps this session. */
  #keeperIsFree: Promise<void> | null = null;
  #isClosing = false;

  constructor(options: KeeperSessionOptions) {
    this.#options = options;
    this.sessionId = options.spec.sessionId;
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    const { folder, driver, launch, secrets, world, spare, spec } = this.#options;
    // If `isBeforeBoot`, a power cut may have damaged the output and the workspace, so do not read them.
    if (isBeforeBoot(folder)) {
      await writeSessionFiles(folder, maskLeftovers(folder, secrets));
      yield { type: "caughtUp" };
      yield { type: "gone", ...this.#findEnd(0)! };
      return;
    }
    this.#start();
    const reader = new SessionReader(folder, launch.mode, () => newDecoder(driver), { secrets });
    this.#reader = reader;
    const watcher = this.#watch();
    let startedAt = world.mono();
    let caughtUp = false;
    const removeSession = spare?.addSession();
    let begunAt: number | null = null;
    let hasPrepared = false;
    try {
      while (!this.#left.signal.aborted) {
        this.#wake = new AbortController();
        const end = this.#findEnd(world.mono() - startedAt);
        yield* this.#readSignals(reader);
        // A session that ends from now on was ended for good.
        const revival = caughtUp || !end ? null : this.#findRevival();
        if (revival) yield { type: "suspended", since: Math.round(statSync(paths(folder).end).mtimeMs) };
        if (!caughtUp) yield { type: "caughtUp" };
        caughtUp = true;
        if (revival) {
          await this.#revival.promise;
          if (this.#left.signal.aborted) return;
          const launch = revival();
          writeSessionFile(folder, () => removeFile(paths(folder).end));
          startKeeper(folder, this.sessionId, launch);
          startedAt = world.mono();
          continue;
        }
        if (end) {
          await this.#sweep();
          await writeSessionFiles(folder, maskLeftovers(folder, secrets));
          spare?.addExit(this.#untilKeeperIsFree());
          yield { type: "gone", ...end };
          return;
        }
        if (this.#talk.hasBegun) begunAt ??= world.mono();
        if (begunAt !== null && !hasPrepared && world.mono() - begunAt >= SPARE_AFTER_MS) {
          hasPrepared = true;
          spare?.prepare(spec.dialogue);
        }
        await world.sleep(POLL_MS, this.#wake.signal);
      }
    } finally {
      removeSession?.();
      watcher?.close();
    }
  }

  /** After `close`, the caller ends the session, which sweeps as well. */
  async #sweep(): Promise<void> {
    const { folder, world } = this.#options;
    const end = readEnd(folder);
    const isRepeated = end?.masked === true;
    if (isRepeated && this.#isClosing) return;
    // The keeper may be about to remove `keeper.json`; `endSession` waits for it.
    const keeper = end?.keeper?.pid ?? null;
    await sweepSession(this.sessionId, (ms) => world.sleep(ms), { keeper, isRepeated });
  }

  async *#readSignals(reader: SessionReader): AsyncGenerator<SessionSignal> {
    const slice = new TimeSlice();
    for (const signal of reader.read()) {
      if (signal) this.#noteTalk(signal);
      if (signal) yield signal;
      if (slice.isOver) await slice.renew();
    }
  }

  #noteTalk(signal: SessionSignal): void {
    const talk = this.#talk;
    if (signal.type === "agent" && signal.capabilities?.resume) talk.id = signal.conversation ?? talk.id;
    if (signal.type === "sent") talk.hasBegun = true;
    if (signal.type === "revived") talk.revivals += 1;
    if (signal.type !== "usage") return;
    talk.used.inputTokens += signal.usage.inputTokens;
    talk.used.outputTokens += signal.usage.outputTokens;
    talk.used.usd += signal.usage.usd;
  }

  /** Null if the session was not ended by Tutti before its work was done, or its conversation cannot be resumed. */
  #findRevival(): (() => KeeperLaunch) | null {
    const { folder, revivalLaunch } = this.#options;
    const { id, hasBegun, revivals, used } = this.#talk;
    const reason = readEnd(folder)?.reason;
    const isSuspended = (reason === "stopped" || reason === "orphaned") && !hasRequest(folder, CLOSE);
    if (!isSuspended || !hasBegun || id === null || !revivalLaunch) return null;
    return () => revivalLaunch({ conversation: id, count: revivals + 1, used });
  }

  revive(): void {
    this.#revival.resolve();
  }

  /** Starts the keeper, unless the folder shows that the session was started before. */
  #start(): void {
    const { folder, spec, keeperLaunch, spare } = this.#options;
    const { sessionId } = this;
    const isNew = writeSessionFile(folder, () => {
      makeSessionFolder(folder);
      if (this.#hasStarted()) return false;
      writeSpec(folder, spec);
      return true;
    });
    if (!isNew) return;
    const launch = keeperLaunch();
    const startOwn = () => startKeeper(folder, sessionId, launch);
    // A spare that died before it created `keeper.json` has started nothing.
    const onDeath = () => void (this.#hasStarted() || startOwn());
    const handed = spare?.hand({ folder, sessionId, launch }, onDeath);
    if (handed) this.#keeperIsFree = handed.isFree;
    else startOwn();
  }

  #hasStarted(): boolean {
    const at = paths(this.#options.folder);
    return existsSync(at.keeper) || existsSync(at.end) || existsSync(at.journal);
  }

  /** Null if the system has no watches left; `signals` polls in any case. */
  #watch(): FSWatcher | null {
    try {
      const watcher = watch(this.#options.folder, () => this.#wake.abort());
      watcher.on("error", () => {});
      return watcher;
    } catch {
      return null;
    }
  }

  #findEnd(waitedMs: number): { reason: string; deliberate: boolean } | null {
    const { folder } = this.#options;
    if (isBeforeBoot(folder)) return { reason: "the machine was restarted", deliberate: false };
    const keeper = readKeeper(folder);
    const dead = keeper !== null && !isAlive(keeper);
    // Read after `isAlive`: a keeper that ends properly writes `end.json` before it exits.
    const end = readEnd(folder);
    if (end) return { reason: END_REASONS[end.reason], deliberate: !LOSSES.has(end.reason) };
    if (dead) return { reason: "its keeper died", deliberate: false };
    return keeper === null && this.#endLate(waitedMs)
      ? { reason: "its keeper did not start", deliberate: false }
      : null;
  }

  /** Throws `unwritable` at once if the keeper cannot create `keeper.json`. */
  #endLate(waitedMs: number): boolean {
    const { folder } = this.#options;
    return writeSessionFile(folder, () => {
      if (existsSync(folder)) accessSync(folder, constants.W_OK);
      return waitedMs > KEEPER_START_MS && endUnstarted(folder, identify(process.pid));
    });
  }

  /** Null for an agent with a dialogue, which encodes the texts of requests itself. */
  get #coding(): Coding | null {
    const { driver } = this.#options;
    return "coding" in driver ? driver.coding : null;
  }

  #request(name: string, value: KeeperRequest): void {
    const { folder, sessionKey } = this.#options;
    writeSessionFile(folder, () => request(folder, sessionKey(), name, value));
  }

  async deliver(turn: Turn): Promise<void> {
    const { number, text, phase, message } = turn;
    const input = this.#coding?.encodeTurn(turn) ?? null;
    this.#request(turnName(number), { type: "turn", number, text, input, phase, ...(message && { message }) });
  }

  wasDelivered(turn: number): boolean {
    return hasRequest(this.#options.folder, turnName(turn));
  }

  async answer(askId: string, text: string): Promise<void> {
    const name = wireName(askId);
    const input = this.#coding?.encodeAnswer(name, text) ?? null;
    if (this.#coding && input === null && !isToolQuestion(name)) return;
    this.#request(answerName(askId), { type: "answer", askId: name, text, input });
  }

  wasAnswered(askId: string): boolean {
    return hasRequest(this.#options.folder, answerName(askId));
  }

  async steer(turn: number, id: string, text: string): Promise<void> {
    if (!this.wasDelivered(turn)) return;
    this.#request(`message-${turn}-${pathName(id)}`, { type: "message", turn, id, text });
  }

  async interrupt(turn: number): Promise<void> {
    if (!this.wasDelivered(turn) || (await this.#isOver(turn))) return;
    const input = this.#coding?.encodeInterrupt() ?? null;
    this.#request(interruptName(turn), { type: "interrupt", turn, input });
  }

  /**
   * Whether `turn` has ended, which `signals` may not have read yet. An interrupt that arrives after its turn could
   * stop the next one. Reads from the position of `#reader`, or from the beginning without one.
   */
  async #isOver(turn: number): Promise<boolean> {
    const { folder, driver, launch } = this.#options;
    const from = this.#reader ? { from: this.#reader.point } : {};
    if (from.from && from.from.over >= turn) return true;
    const reader = new SessionReader(folder, launch.mode, () => newDecoder(driver), from);
    const slice = new TimeSlice();
    for (const signal of reader.read()) {
      if (signal?.type === "turnOver" && signal.turn >= turn) return true;
      if (slice.isOver) await slice.renew();
    }
    return false;
  }

  async close(): Promise<void> {
    const { folder, spec, world } = this.#options;
    this.#isClosing = true;
    // A session that cannot be closed is stopped: its work is accepted already.
    if (!this.#requestClose()) return this.stop();
    const since = world.mono();
    const waited = () => world.mono() - since;
    while (!this.#findEnd(waited()) && waited() < spec.graceMs + CLOSE_MS) await world.sleep(20);
    const end = readEnd(folder);
    if (end?.masked !== true) return this.stop();
    await untilKeeperExited(end, world);
    if (!end.keeper) await this.#untilKeeperIsFree();
  }

  /** A keeper that stays for another session removes `keeper.json` and reports that it waits. */
  async #untilKeeperIsFree(): Promise<void> {
    const isFree = new AbortController();
    void this.#keeperIsFree?.then(() => isFree.abort());
    if (this.#keeperIsFree) await this.#options.world.sleep(KEEPER_EXIT_MS, isFree.signal);
  }

  #requestClose(): boolean {
    const { folder, sessionKey } = this.#options;
    return tryToWrite(() => request(folder, sessionKey(), CLOSE, { type: "close" }));
  }

  async stop(): Promise<void> {
    const { folder, secrets, world } = this.#options;
    await endSession(folder, this.sessionId, world);
    await ignoreUnwritable(maskLeftovers(folder, secrets));
  }

  leave(): void {
    this.#left.abort();
    this.#revival.resolve();
    this.#wake.abort();
  }
}

/** `LOSSES` are ends that Tutti did not order. */
const LOSSES: ReadonlySet<SessionEnd["reason"]> = new Set(["exited", "forged", "tooMuchOutput"]);

const CLOSE = "close";

const END_REASONS = {
  stopped: "it was stopped",
  orphaned: "it was ended because no engine was running",
  forged: "a request to its keeper was not written by Tutti",
  tooMuchOutput: "the agent wrote too much output",
  closed: "it was closed after its work",
  exited: "the agent exited",
} as const;
