// `HeldAttempt` performs the requests of the server for one attempt in order, and reports the signals and the
// transcript of the session, which runs under a keeper as on any machine.
//
// Invariants
// 1. `prepare` and `open` are performed again after a restart of the host, which so adopts its session. All other
//    requests are performed until they have a reply.
// 2. A signal has a position that a second reading of the session gives again, however its text is cut into pieces. The
//    host reports only signals after the last stored position.
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CommittedSignal } from "./ahead.ts";
import type { Reply } from "./fleet-calls.ts";
import type { HostLink, TakenAttempt } from "./host-link.ts";
import type { HostRequest } from "./host-request.ts";
import { MAX_SIGNAL_BYTES } from "./host-tables.ts";
import type { HostTraffic, ReceivedRequest } from "./host-traffic.ts";
import type { CheckRunner } from "../engine/sessions/run-checks.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { attemptRef, savedRef } from "../schema/ids.ts";
import type { Session, SessionHost, SessionSignal, Turn, WorkCommit } from "../session/session.ts";
import type { Exchange, Parcel } from "../workspace/exchange/exchange.ts";
import type { WorkspaceKey, Workspaces } from "../workspace/workspace.ts";
import type { World } from "../world.ts";

export interface HeldAttemptOptions {
  link: HostLink;
  traffic: HostTraffic;
  taken: TakenAttempt;
  /** The position of the last stored signal. */
  reported: number;
  sessions: SessionHost;
  workspaces: Workspaces;
  checks: CheckRunner;
  exchange: Exchange;
  clones: string;
  /** Replaces the remote that `HostRequest` names. */
  repository: string | null;
  world: World;
  /** Called when the host has nothing more to do for the attempt. */
  onOver(): void;
}

interface Place {
  cwd: string;
  path: string;
  key: WorkspaceKey;
  remote: string;
  start: string;
}

/** Output of an agent is collected for `FLUSH_MS`. Signals that change the state of its session are sent at once. */
const FLUSH_MS = 20;
const COLLECTED: ReadonlySet<SessionSignal["type"]> = new Set([
  "text",
  "partial",
  "tool",
  "toolResult",
  "usage",
  "other",
]);
const TRANSCRIPT_PAGE = 200;
/** Without a reason, `abort` creates an exception with a stack trace, for every attempt. */
const ENDED = "the attempt has ended";

export class HeldAttempt {
  readonly #options: HeldAttemptOptions;
  readonly #checks = new Map<string, AbortController>();
  readonly #over = new AbortController();
  #place: Place | null = null;
  #session: Session | null = null;
  #pumped: Promise<void> = Promise.resolve();
  #unsent: { at: number; body: string }[] = [];
  #urgent = new AbortController();
  #flushed: Promise<void> = Promise.resolve();
  #entries = 0;
  /** The turn that was delivered last, with the commit of its result. */
  #turn: Pick<Turn, "number" | "commit"> | null = null;
  #isCommitted = false;
  #saved: Promise<unknown> = Promise.resolve();
  /** `reason` of `abandon`, which replaces that of the session in its signal `gone`. */
  #reason: string | null = null;
  #served: Promise<void> = Promise.resolve();

  constructor(options: HeldAttemptOptions) {
    this.#options = options;
    options.traffic.add(options.taken, (requests) => {
      this.#served = this.#served.then(() => this.#serve(requests));
    });
  }

  get key(): string {
    return this.#options.taken.key;
  }

  get run(): string {
    return this.#options.taken.run;
  }

  async #serve(requests: readonly ReceivedRequest[]): Promise<void> {
    for (const { n, request, done } of requests) {
      if (this.#over.signal.aborted) return;
      const isRepeated = request.op === "prepare" || request.op === "open";
      if (done && !isRepeated) continue;
      const answered = this.#answer(n, request, done);
      if (isRepeated) await answered;
    }
  }

  async #answer(n: number, request: HostRequest, done: boolean): Promise<void> {
    const { traffic, taken } = this.#options;
    let reply: Reply;
    try {
      reply = { ok: (await this.#perform(request)) ?? null };
    } catch (error) {
      const { code, message, details } = asTuttiError(error);
      reply = { error: { code, message, ...(details === undefined ? {} : { details }) } };
    }
    if (done) return;
    const sent = traffic.send(taken, { reply: { n, reply: JSON.stringify(reply) } }).catch(() => {});
    // The reply is sent in the order of requests, but the next request need not wait until it is stored.
    if (request.op === "remove") await sent;
    if (request.op === "remove" && "ok" in reply) this.#end();
  }

  async #perform(request: HostRequest): Promise<unknown> {
    const { sessions, workspaces, checks, taken } = this.#options;
    switch (request.op) {
      case "prepare":
        return this.#prepare(request);
      case "access": {
        const { cwd, key } = this.#mustHavePlace();
        return workspaces.access(cwd, key);
      }
      case "open":
        return this.#open(request.spec);
      case "deliver":
        this.#turn = request.turn;
        this.#isCommitted = false;
        return this.#mustBeOpen().deliver(request.turn);
      case "answer":
        return this.#mustBeOpen().answer(request.askId, request.text);
      case "steer":
        return this.#mustBeOpen().steer?.(request.turn, request.id, request.text);
      case "interrupt":
        return this.#mustBeOpen().interrupt(request.turn);
      case "end":
        return this.#endSession();
      case "move": {
        const { cwd, key, remote } = this.#mustHavePlace();
        const missing = await this.#fetch(cwd, remote, request.to, request.bundle);
        if (missing) return { missing };
        await workspaces.move(cwd, key, request.to, { discard: request.discard });
        return { moved: true };
      }
      case "snapshot":
        return this.#snapshot(request);
      case "findUnproven": {
        const { cwd, key } = this.#mustHavePlace();
        return workspaces.findUnproven(cwd, key, request.snapshot, request.claimed);
      }
      case "saveWork":
        return (this.#saved = this.#saveWork(request));
      case "detectChecks":
        return checks.detect(this.#mustHavePlace().path);
      case "runCheck": {
        const { command, timeoutMs, id, sandbox } = request;
        const abort = new AbortController();
        this.#checks.set(id, abort);
        const { path } = this.#mustHavePlace();
        return checks.run(command, { cwd: path, timeoutMs, runId: taken.run, signal: abort.signal, sandbox });
      }
      case "abortCheck":
        return this.#checks.get(request.id)?.abort();
      case "remove":
        if (request.close) await this.#session?.close();
        for (const check of this.#checks.values()) check.abort();
        await sessions.end(taken.run, taken.session);
        await this.#pumped;
        return { parcel: await this.#handIn() };
    }
  }

  async #prepare(request: HostRequest & { op: "prepare" }): Promise<object> {
    const { key, start, prefix, repository, bundle, only, open } = request;
    const { exchange, workspaces, clones } = this.#options;
    const remote = this.#options.repository ?? repository;
    const clone = join(clones, createHash("sha256").update(remote).digest("hex").slice(0, 20));
    await exchange.openClone(clone);
    const cwd = join(clone, prefix);
    if (prefix !== "") await mkdir(cwd, { recursive: true });
    const missing = await this.#fetch(cwd, remote, start, bundle);
    if (missing) return { missing };
    const prepared = await workspaces.prepare(cwd, key, start, { only });
    this.#place = { cwd, path: prepared.path, key, remote, start };
    if (!open) return prepared;
    this.#open(open);
    return { ...prepared, isOpen: true };
  }

  async #snapshot({ start, message, scope }: WorkCommit): Promise<object> {
    const { workspaces, exchange } = this.#options;
    const { cwd, key, remote } = this.#mustHavePlace();
    const snapshot = await workspaces.snapshot(cwd, key, start, message, scope);
    const parcel = await exchange.send(cwd, remote, { [refOf(key)]: snapshot.commit }, start);
    return { ...snapshot, parcel };
  }

  async #saveWork({ start, message }: HostRequest & { op: "saveWork" }): Promise<{ commit: string | null }> {
    const { workspaces, exchange } = this.#options;
    const { cwd, key, remote } = this.#mustHavePlace();
    // The commit of the turn has replaced what was saved.
    if (this.#isCommitted) return { commit: null };
    const commit = await workspaces.saveWork(cwd, key, start, message);
    if (commit !== null) await exchange.push(cwd, remote, { [savedRef(refOf(key))]: commit });
    return { commit };
  }

  /** Adds the commit of the work to the signal of a turn that has ended, so that the server need not request it. */
  async #commit(signal: SessionSignal & { type: "turnOver" }): Promise<CommittedSignal> {
    const { number, commit } = this.#turn ?? {};
    if (number !== signal.turn || commit === undefined || signal.ending.kind !== "ended") return signal;
    try {
      this.#isCommitted = true;
      await this.#saved.catch(() => {});
      const committed = { ...signal, committed: { commit, reply: await this.#snapshot(commit) } };
      // The server requests a commit that is too long for a signal.
      return JSON.stringify(committed).length > MAX_SIGNAL_BYTES / 2 ? signal : committed;
    } catch {
      // The server requests the commit and gets the error.
      return signal;
    }
  }

  /** Gets `commit` from the remote or from `bundle`. Returns the commits that the host has if it lacks this one. */
  async #fetch(
    cwd: string,
    remote: string,
    commit: string,
    bundle: { data: string; without: string[] } | null,
  ): Promise<string[] | null> {
    const { exchange } = this.#options;
    if (await exchange.has(cwd, commit)) return null;
    if (bundle) await exchange.unpack(cwd, bundle.data, bundle.without);
    else {
      const tips = await exchange.fetch(cwd, remote);
      if (!(await exchange.has(cwd, commit))) return tips;
    }
    return (await exchange.has(cwd, commit)) ? null : [];
  }

  #open(spec: (HostRequest & { op: "open" })["spec"]): void {
    if (this.#session) return;
    const session = this.#options.sessions.open({ ...spec, cwd: this.#mustHavePlace().path });
    this.#session = session;
    this.#pumped = this.#pump(session);
  }

  async #pump(session: Session): Promise<void> {
    const { reported } = this.#options;
    let position = 0;
    try {
      for await (const signal of session.signals()) {
        if (signal.type === "caughtUp") continue;
        // The server does not know that its session was suspended with the host, so `revive` continues it.
        if (signal.type === "suspended") {
          session.revive?.();
          continue;
        }
        const begin = position;
        position += lengthOf(signal);
        if (position > reported) this.#queue(position, withoutFirst(await this.#shown(signal), reported - begin));
      }
    } catch (error) {
      const { message } = asTuttiError(error);
      this.#queue(position + 1, { type: "gone", reason: message, deliberate: false });
    }
    await this.#flushed;
  }

  async #shown(signal: SessionSignal): Promise<CommittedSignal> {
    if (signal.type === "turnOver") return this.#commit(signal);
    return signal.type === "gone" && this.#reason ? { ...signal, reason: this.#reason } : signal;
  }

  #queue(at: number, signal: CommittedSignal): void {
    this.#unsent.push({ at, body: JSON.stringify(signal) });
    if (!COLLECTED.has(signal.type)) this.#urgent.abort("send at once");
    if (this.#unsent.length > 1) return;
    this.#flushed = this.#flushed.then(() => this.#flush()).catch(() => {});
  }

  async #flush(): Promise<void> {
    const { traffic, taken, world } = this.#options;
    if (!this.#urgent.signal.aborted) await world.sleep(FLUSH_MS, this.#urgent.signal);
    this.#urgent = new AbortController();
    const signals = this.#unsent;
    this.#unsent = [];
    const entries = await this.#newEntries();
    // A host that no longer holds the attempt learns it from the next beat.
    await traffic.send(taken, { signals, entries });
  }

  /** The newest entry may grow, so it is sent again. */
  async #newEntries(): Promise<{ n: number; body: string }[]> {
    const { sessions, taken } = this.#options;
    const page = { after: Math.max(0, this.#entries - 1), limit: TRANSCRIPT_PAGE };
    const entries = await sessions.transcript(taken.run, taken.session, page);
    this.#entries = entries.at(-1)?.n ?? this.#entries;
    return entries.map((entry) => ({ n: entry.n, body: JSON.stringify(entry) }));
  }

  async #endSession(): Promise<void> {
    const { sessions, taken } = this.#options;
    for (const check of this.#checks.values()) check.abort();
    await sessions.end(taken.run, taken.session);
    await this.#pumped;
  }

  /** Removes the workspace. Its commits go to the remote or into the returned `Parcel`. */
  async #handIn(): Promise<Parcel | null> {
    if (!this.#place) return null;
    const { workspaces, exchange } = this.#options;
    const { cwd, key, remote, start } = this.#place;
    await workspaces.remove(cwd, key);
    const refs = await exchange.refsOf(cwd, refOf(key));
    return Object.keys(refs).length === 0 ? null : exchange.send(cwd, remote, refs, start);
  }

  /**
   * Ends the session before its work is done and keeps its work. With `reason` the attempt is released for a new one.
   */
  async abandon(reason: string | null): Promise<void> {
    const { link, taken } = this.#options;
    this.#reason = reason;
    await this.#endSession();
    await this.#handIn().catch(() => null);
    if (reason !== null) await link.release(taken, reason).catch(() => false);
    this.#end();
  }

  /** Stops reading requests. The session continues under its keeper. */
  async leave(): Promise<void> {
    this.#session?.leave();
    this.#over.abort(ENDED);
    this.#options.traffic.remove(this.key);
    await this.#served;
  }

  #end(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(ENDED);
    this.#options.traffic.remove(this.key);
    this.#options.onOver();
  }

  #mustBeOpen(): Session {
    if (this.#session) return this.#session;
    throw new TuttiError(
      "workspace_failed",
      `The session "${this.#options.taken.session}" is not open on this host. Retry its task.`,
    );
  }

  #mustHavePlace(): Place {
    if (this.#place) return this.#place;
    throw new TuttiError(
      "workspace_failed",
      `The workspace of "${this.key}" does not exist on this host. Retry its task.`,
    );
  }
}

const refOf = ({ runId, name, attempt }: WorkspaceKey): string => attemptRef(runId, name, attempt);

/** `lengthOf` a text counts characters, because a reader cuts a long one into pieces as it arrives. */
const lengthOf = (signal: SessionSignal): number =>
  signal.type === "text" ? signal.text.length + (signal.complete ? 1 : 0) : 1;

const withoutFirst = (signal: CommittedSignal, length: number): CommittedSignal =>
  signal.type === "text" && length > 0 ? { ...signal, text: signal.text.slice(length) } : signal;
