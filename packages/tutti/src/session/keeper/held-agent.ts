// `HeldAgent` is the agent of one session as its keeper holds it. It makes no decisions: it carries out the requests in the
// session folder and records what it observes.
//
// Invariants
// 1. The agent writes straight to a file, so no pipe can break when a process dies. If the agent has its own protocol,
//    a dialogue reads that file and answers the agent.
// 2. `end.json` is written after every process of the session has ended.
// 3. The session ends after `orphanAfterMs` without a live engine.
// 4. No secret stays on disk: the keeper masks its own records before it writes them, the agent's files soon after.
// 5. Only requests that the engine signed are carried out. Any other file in their place ends the session.
// 6. An agent that writes more than its limit is killed; the beginning and the end of its output stay.
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, watch } from "node:fs";
import type { Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { endCommands, findCommands, type OwnProcesses } from "./agent-commands.ts";
import { openDialogueRunner, type DialogueRunner } from "./dialogue-runner.ts";
import type { KeeperLaunch, Revival } from "./keeper-launch.ts";
import { watchOutput } from "./output-limit.ts";
import { identify, isAlive, signalGroup, signalProcess, type ProcessIdentity } from "../process.ts";
import { processTable } from "../process-table.ts";
import { createSecrets } from "../secrets/find-secrets.ts";
import {
  listRequests,
  paths,
  readJson,
  readSigned,
  readTurns,
  removeWarm,
  sentTurns,
  writeJson,
  type KeeperRequest,
  type KeeperSpec,
  type SessionEnd,
} from "./session-folder.ts";
import { findSessionProcesses, sweepSession } from "./session-processes.ts";
import { sandboxCommand, type Mount } from "../sandbox/sandbox-command.ts";
import { makeScratch, removeScratch } from "../sandbox/scratch-folder.ts";
import { isToolQuestion, ToolDesk } from "../tools/tool-desk.ts";
import { openToolListener, type ToolAddress, type ToolListener } from "../tools/tool-listener.ts";
import { ignoreUnwritable, removeFile, whenAccessible } from "../../durable-file.ts";
import { openAppending, SessionRecord } from "./session-record.ts";
import { ANSWER_PHASE } from "../../schema/status.ts";

/** `SOCKET` is the Unix socket of the tools, as an agent in the sandbox finds it. */
const SOCKET = "/run/tutti/mcp.sock";
const POLL_MS = 500;
const ENGINE_CHECK_MS = 2000;
const MASK_MS = 1000;
const ACTIVITY_CHECK_MS = 5000;
const INTERRUPT_TO_TERM_MS = 200;
const TERM_TO_KILL_MS = 2000;

type TurnRequest = Extract<KeeperRequest, { type: "turn" }>;
type InterruptRequest = Extract<KeeperRequest, { type: "interrupt" }>;

/** `KeeperPlace` is what a session has of the process that keeps it. */
export interface KeeperPlace {
  /** For the tools; null if the session opens it. */
  port: Server | null;
  /** Resolves with false if this process cannot keep another session. */
  removeMark: () => Promise<boolean> | false;
  /** Called after `removeMark` has resolved with true and the session has ended. */
  isOver: () => void;
  /** Ends this process. */
  leave: () => void;
}

export class HeldAgent {
  readonly #spec: KeeperSpec;
  readonly #launch: KeeperLaunch;
  readonly #at: ReturnType<typeof paths>;
  readonly #folder: string;
  readonly #record: SessionRecord;
  readonly #errors: number;
  readonly #handled = new Set<string>();
  /** Turns queued until the previous turn's process exits (`turn` mode) or until the agent is ready. */
  readonly #waiting: TurnRequest[] = [];
  /** Interrupts of turns not sent yet, by turn. `listRequests` sorts by name, so an interrupt can precede its turn. */
  readonly #early = new Map<number, InterruptRequest>();
  /** The turn sent last. Earlier turns are over, so an interrupt of one of them is ignored. */
  #sent = 0;
  #agent: ChildProcess | null = null;
  /** Null for an agent that writes JSON lines or plain text itself. */
  #runner: DialogueRunner | null = null;
  readonly #desk: ToolDesk;
  /** For the tools; null if it is opened in `run`. */
  readonly #port: Server | null;
  /** Set before the agent starts. */
  #tools: ToolListener | null = null;
  #ending: SessionEnd["reason"] | null = null;
  #isFinishing = false;
  #lastSeenEngine = Date.now();
  /** True until the session is claimed, if its agent waits for that; see `WarmKeeper`. */
  #isWarm: boolean;
  readonly #place: KeeperPlace;
  /** Called at the end of the session, if this process stays. */
  readonly #releases: (() => void)[] = [];

  constructor(folder: string, spec: KeeperSpec, launch: KeeperLaunch, place: KeeperPlace) {
    this.#place = place;
    this.#port = place.port;
    this.#spec = spec;
    this.#launch = launch;
    this.#isWarm = launch.warm !== undefined;
    this.#at = paths(folder);
    this.#folder = folder;
    this.#record = new SessionRecord(folder, createSecrets(launch.secrets), spec.maxOutputBytes);
    this.#errors = openAppending(this.#at.errors);
    this.#desk = new ToolDesk({
      role: launch.env["TUTTI_ROLE"] ?? "",
      taskId: launch.env["TUTTI_TASK_ID"] ?? null,
      delegation: spec.delegation ?? { refusal: "This session cannot delegate." },
      note: (line) => this.#record.note({ type: "line", line }),
    });
  }

  async run(): Promise<void> {
    const { sandbox, dialogue } = this.#spec;
    // Programs with a protocol of their own cannot use Unix sockets, and reach this address if they have a network at
    // all.
    const usesSocket = sandbox && (dialogue === null || !sandbox.network);
    const tools = await openToolListener(this.#desk, usesSocket ? SOCKET : null, this.#port);
    this.#tools = tools;
    this.#releases.push(() => tools.close());
    await this.#openDialogueRunner(tools);
    // SIGTERM may have called `end` while the dialogue was loading.
    if (this.#ending) return;
    const endWatch = watchOutput({
      folder: this.#folder,
      maxBytes: this.#spec.maxOutputBytes,
      onExceeded: () => this.#stopOutput(),
      onTrimmedErrors: () => this.#record.remask("errors"),
    });
    this.#releases.push(endWatch);
    if (this.#launch.revival) this.#continue(this.#launch.revival);
    else if (this.#spec.mode === "stream" || this.#isWarm) this.#start(null);
    else this.#record.note({ type: "started" });
    this.#repeat(() => this.#readRequests(), POLL_MS);
    this.#repeat(() => this.#checkEngine(), ENGINE_CHECK_MS);
    this.#repeat(() => this.#mask(), MASK_MS);
    if (this.#spec.stallMs !== null) this.#watchActivity(this.#spec.stallMs);
    try {
      const watcher = watch(this.#at.requests, () => this.#readRequests());
      this.#releases.push(() => watcher.close());
    } catch {
      // The system limits the number of watches. Without one, polling finds the requests.
    }
    this.#readRequests();
  }

  #repeat(work: () => void, everyMs: number): void {
    const timer = setInterval(work, everyMs);
    this.#releases.push(() => clearInterval(timer));
  }

  /** A keeper that fails, for example on a full disk, kills its agent rather than leave it unattended. */
  abandon(): void {
    if (this.#agent?.pid) signalGroup(this.#agent.pid, "SIGKILL");
    this.#place.leave();
  }

  /** Old requests are for the ended process. The engine sends a new turn instead of one that was cut off. */
  #continue({ command }: Revival): void {
    const sent = sentTurns(this.#folder);
    const names = listRequests(this.#folder);
    for (const name of names) this.#handled.add(name);
    this.#record.note({ type: "revived", unsent: readTurns(names).filter((turn) => !sent.has(turn)) });
    this.#start(null, command);
  }

  async #openDialogueRunner(tools: ToolAddress): Promise<void> {
    const { dialogue } = this.#spec;
    if (dialogue === null) return;
    this.#runner = await openDialogueRunner(dialogue, {
      folder: this.#folder,
      spec: this.#spec,
      record: this.#record,
      tools,
      resumed: this.#launch.revival ?? null,
      write: (text) => void this.#agent?.stdin?.write(text),
      ready: () => {
        this.#record.note({ type: "started" });
        for (const request of this.#waiting.splice(0)) this.#sendTurn(request);
      },
      fail: (error) => this.#fail(null, error),
      // An agent may leave a command running when its turn is interrupted, but a paused run must not change files.
      stopped: (own) => void endCommands(this.#findCommands(own), sleep, TERM_TO_KILL_MS),
      lose: () => void this.#kill(false),
    });
  }

  #findCommands(own: OwnProcesses): ProcessIdentity[] {
    const { sessionId, sandbox } = this.#spec;
    return findCommands(sessionId, own, sandbox ? (this.#agent?.pid ?? null) : null);
  }

  #fail(turn: number | null, error: string): void {
    // A conversation that cannot be resumed is lost, but its agent can start.
    if (!this.#launch.revival) this.#record.note({ type: "unstartable", turn, error });
    if (this.#agent) void this.#kill();
    else void this.#finish("exited");
  }

  /** The dialogue reads the new lines first, because it needs them unmasked. */
  #mask(): void {
    const rawUntil = this.#runner?.read() ?? 0;
    void ignoreUnwritable(this.#record.mask(rawUntil));
  }

  #readRequests(): void {
    // A folder that cannot be read now counts as empty; the next poll reads it again.
    for (const name of whenAccessible(() => listRequests(this.#folder), [])) {
      if (this.#handled.has(name) || this.#ending === "forged") continue;
      const request = whenAccessible(() => readSigned(this.#folder, this.#launch.key, name), "missing");
      if (request === "missing") continue;
      this.#handled.add(name);
      if (request === "forged") this.#end("forged", { type: "forged", name: `${name}.json` });
      else this.#carryOut(request);
    }
  }

  #carryOut(request: KeeperRequest): void {
    switch (request.type) {
      case "turn":
        if (this.#ending) return;
        if (this.#runner?.isReady === false) this.#waiting.push(request);
        else if (this.#spec.mode === "stream") this.#sendTurn(request);
        else if (this.#agent && this.#sent > 0) this.#waiting.push(request);
        else if (this.#agent) this.#prompt(this.#agent, request);
        else this.#start(request);
        return;
      case "answer":
        if (isToolQuestion(request.askId)) this.#desk.answer(request.askId, request.text);
        else if (this.#runner) this.#runner.answer(request.askId, request.text);
        else this.#agent?.stdin?.write(request.input!);
        return;
      case "message":
        if (request.turn === this.#sent && !this.#ending) this.#passOn(request);
        return;
      case "interrupt":
        return this.#interrupt(request);
      case "close":
        return this.#close();
    }
  }

  /** An agent that `canSteer` gets the message now. Any other can read it with a tool. */
  #passOn({ id, text }: Extract<KeeperRequest, { type: "message" }>): void {
    if (this.#runner?.canSteer) this.#runner.steer(id, text);
    else this.#desk.addMessage({ id, text });
  }

  /** Writes the journal entry first: a turn that may have been sent must never be sent again. */
  #sendTurn(request: TurnRequest): void {
    this.#noteSent(request);
    if (this.#runner) this.#runner.turn(request);
    else this.#agent?.stdin?.write(request.input!);
    this.#interruptEarly();
  }

  /** Sends the first turn in `turn` mode to an agent that was started before, because the session was warm. */
  #prompt(agent: ChildProcess, request: TurnRequest): void {
    this.#noteSent(request);
    agent.stdin!.end(request.input!);
    this.#interruptEarly();
  }

  #noteSent({ number, phase, message }: TurnRequest): void {
    this.#sent = number;
    this.#desk.beginTurn(phase === undefined ? null : ANSWER_PHASE[phase], message);
    this.#record.note({ type: "sent", turn: number });
  }

  #interruptEarly(): void {
    const request = this.#early.get(this.#sent);
    if (request) this.#interrupt(request);
  }

  /** Writes the journal entry first: from here on the interrupt may be the cause of anything the agent does. */
  #interrupt(request: InterruptRequest): void {
    const { turn, input } = request;
    if (turn > this.#sent) this.#early.set(turn, request);
    if (turn !== this.#sent || this.#ending || !this.#agent) return;
    this.#record.note({ type: "interrupted", turn });
    if (this.#runner) this.#runner.interrupt(turn);
    else if (input === null) void this.#kill();
    else this.#agent.stdin?.write(input);
  }

  #start(turn: TurnRequest | null, command = this.#spec.command): void {
    const { cwd } = this.#spec;
    const { url, token } = this.#tools!;
    const env = { ...this.#launch.env, TUTTI_MCP_URL: url, TUTTI_MCP_TOKEN: token };
    const [program, ...args] = this.#sandboxed(command);
    if (turn) this.#noteSent(turn);
    const output = this.#runner ? openAppending(this.#at.raw) : this.#record.output;
    const agent = spawn(program!, args, {
      cwd,
      env,
      stdio: ["pipe", output, this.#errors],
      detached: true,
    });
    if (this.#runner) closeSync(output);
    this.#agent = agent;
    // An agent may close its stdin early. `#exited` reports how it ended.
    agent.stdin!.on("error", () => {});
    agent.once("error", (error) => {
      this.#agent = null;
      this.#fail(turn?.number ?? null, error.message);
    });
    agent.once("spawn", () => {
      if (turn) agent.stdin!.end(turn.input!);
      else if (this.#runner) this.#runner.begin();
      else this.#record.note({ type: "started" });
    });
    agent.once("exit", (code, signal) => this.#exited(agent, code, signal));
    if (turn) this.#interruptEarly();
  }

  #sandboxed(command: readonly string[]): readonly string[] {
    const { sandbox, cwd } = this.#spec;
    if (!sandbox) return command;
    makeScratch(sandbox);
    const socket: Mount = { path: SOCKET, kind: "from", source: this.#at.socket };
    const mounts = existsSync(this.#at.socket) ? [...sandbox.mounts, socket] : sandbox.mounts;
    return sandboxCommand({ ...sandbox, mounts }, cwd, command);
  }

  #exited(agent: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#agent = null;
    const deliberate = this.#ending !== null && this.#ending !== "closed";
    // The rest of an output that is too long belongs to no turn and would take long to read.
    if (this.#ending !== "tooMuchOutput") this.#runner?.finish();
    if (!this.#ending && this.#resume(agent)) return;
    if (!deliberate) this.#runner?.exited({ code, signal });
    this.#record.note({ type: "exited", code, signal, deliberate, resumable: this.#runner !== null });
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    if (this.#spec.mode === "stream" || this.#ending || this.#isWarm) void this.#finish(this.#ending ?? "exited");
    else if (this.#waiting.length > 0) this.#start(this.#waiting.shift()!);
  }

  /** Continues a conversation that broke off in the middle of a turn in a new process, if the dialogue supports it. */
  #resume(agent: ChildProcess): boolean {
    const command = this.#runner?.takeUp() ?? null;
    if (command === null) return false;
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    this.#start(null, command);
    return true;
  }

  /** Closes stdin, then kills the agent if it is still there after `graceMs`. */
  #close(): void {
    if (this.#ending) return;
    this.#ending = "closed";
    if (!this.#agent) {
      void this.#finish("closed");
      return;
    }
    this.#agent.stdin?.end();
    const timer = setTimeout(() => void this.#kill(), this.#spec.graceMs);
    this.#releases.push(() => clearTimeout(timer));
  }

  /** The engine opens the session now. A keeper that is ending stays warm, so the engine starts another one. */
  claim(): void {
    if (this.#ending || this.#isFinishing) return;
    this.#isWarm = false;
    removeFile(this.#at.warm);
  }

  end(reason: "stopped" | "orphaned"): void {
    this.#end(reason, { type: "stopping" });
  }

  /** Kills the agent at once, because it may fill the disk. */
  #stopOutput(): void {
    const limit = this.#spec.maxOutputBytes;
    if (this.#agent?.pid) signalGroup(this.#agent.pid, "SIGKILL");
    this.#end("tooMuchOutput", { type: "tooMuchOutput", limit });
  }

  #end(reason: "stopped" | "orphaned" | "forged" | "tooMuchOutput", entry: Parameters<SessionRecord["note"]>[0]): void {
    if (this.#ending !== null && this.#ending !== "closed") return;
    this.#ending = reason;
    try {
      this.#record.note(entry);
    } catch {
      // On a full disk, ending the agent matters more than the journal entry.
    }
    if (this.#agent) void this.#kill();
    else void this.#finish(reason);
  }

  /** Interrupts the open turn, then sends SIGTERM, then SIGKILL. `#finish` kills processes that left the group. */
  async #kill(interruptsFirst = true): Promise<void> {
    const agent = this.#agent;
    const pid = agent?.pid;
    if (!pid) return;
    const isRunning = () => this.#agent === agent;
    if (interruptsFirst && this.#askToStop(agent)) await sleep(INTERRUPT_TO_TERM_MS);
    if (isRunning()) this.#terminate(pid);
    await sleep(TERM_TO_KILL_MS);
    if (isRunning()) signalGroup(pid, "SIGKILL");
  }

  /** Not bubblewrap itself: it would end at once, and the sandbox with it, before the agent has received the signal. */
  #terminate(group: number): void {
    if (!this.#spec.sandbox) return signalGroup(group, "SIGTERM");
    const members = processTable().read(findSessionProcesses(this.#spec.sessionId));
    for (const each of members) if (each.group === group && each.pid !== group) signalProcess(each.pid, "SIGTERM");
  }

  #askToStop(agent: ChildProcess): boolean {
    if (this.#runner) return this.#runner.askToStop();
    if (this.#spec.interrupt !== null && this.#sent > 0) agent.stdin?.write(this.#spec.interrupt);
    else return false;
    return true;
  }

  async #finish(reason: SessionEnd["reason"]): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    await sweepSession(this.#spec.sessionId, sleep);
    // A file that `removeScratch` cannot remove now is removed when the session is archived.
    await removeScratch(this.#folder).catch(() => {});
    removeFile(this.#at.socket);
    if (this.#isWarm) {
      removeWarm(this.#folder);
      return this.#place.leave();
    }
    // The mark of the session is removed after the last sweep of this process and before those of the engine.
    const isUnmarked = reason === "closed" && this.#runner === null ? this.#place.removeMark() : false;
    await this.#record.finish();
    const stays = await isUnmarked;
    // `end.json` names only a keeper that leaves: the engine would wait for the exit of one that has another session.
    const self = stays ? null : identify(process.pid);
    writeJson(this.#at.end, { reason, masked: true, ...(self ? { keeper: self } : {}) } satisfies SessionEnd);
    removeFile(this.#at.keeper);
    if (!stays) return this.#place.leave();
    for (const release of this.#releases) release();
    this.#record.close();
    closeSync(this.#errors);
    this.#place.isOver();
  }

  /** Kills the process of a stalled agent. `#exited` then resumes the conversation if the dialogue supports it. */
  #watchActivity(stallMs: number): void {
    const check = () => {
      if (!this.#agent || this.#ending || !this.#runner?.hasStalled(stallMs, this.#desk.isWaiting)) return;
      this.#record.note({ type: "stalled", forMs: stallMs });
      // No interrupt first: a stalled agent does not read it, and the dialogue would report the turn as interrupted.
      void this.#kill(false);
    };
    this.#repeat(check, Math.min(ACTIVITY_CHECK_MS, stallMs / 3));
  }

  #checkEngine(): void {
    const engine = whenAccessible(() => readJson<ProcessIdentity>(this.#spec.engineFile), null);
    if (engine && isAlive(engine)) this.#lastSeenEngine = Date.now();
    else if (Date.now() - this.#lastSeenEngine > this.#spec.orphanAfterMs) this.end("orphaned");
  }
}
