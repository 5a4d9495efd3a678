// The keeper: a small process of its own for one session. It holds the agent's stdin, lets the agent write to files, and
// outlives the engine, so that whatever kills the engine leaves the agent at work. It takes no decision: it carries out
// the requests in the session's folder and writes down what it sees.
//
// Invariants
// 1. One session is started once: whoever makes keeper.json keeps it, everybody else leaves again.
// 2. The agent writes straight into output.log, so nothing it says passes through a pipe that a death could cut.
// 3. end.json is written last, when no process of the session is left.
// 4. Without an engine for the set time, the session is ended.
import { spawn, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isAlive, signalGroup, sweep, type ProcessIdentity } from "./process.ts";
import { listRequests, paths, readJson, writeJson, writeJsonOnce } from "./session-folder.ts";
import type { JournalEntry, KeeperRequest, KeeperSpec, SessionEnd } from "./session-folder.ts";

const POLL_MS = 500;
const ENGINE_CHECK_MS = 2000;
const TERM_TO_KILL_MS = 2000;

type TurnRequest = Extract<KeeperRequest, { type: "turn" }>;
type InterruptRequest = Extract<KeeperRequest, { type: "interrupt" }>;

class Keeper {
  readonly #spec: KeeperSpec;
  readonly #at: ReturnType<typeof paths>;
  readonly #output: number;
  readonly #errors: number;
  readonly #done = new Set<string>();
  /** Turns that wait until the process of the turn before has ended (in `turn` mode). */
  readonly #waiting: TurnRequest[] = [];
  /** Interrupts by turn, of turns that have not been sent yet: requests need not be found in the order they were made. */
  readonly #early = new Map<number, InterruptRequest>();
  /** The turn that was sent last; one before it is over, and so is no longer to be interrupted. */
  #sent = 0;
  #agent: ChildProcess | null = null;
  #ending: SessionEnd["reason"] | null = null;
  #lastSeenEngine = Date.now();

  constructor(folder: string, spec: KeeperSpec) {
    this.#spec = spec;
    this.#at = paths(folder);
    this.#output = openSync(this.#at.output, "a", 0o600);
    this.#errors = openSync(this.#at.errors, "a", 0o600);
  }

  run(): void {
    // A keeper that cannot go on (a full disk, say) takes its agent with it rather than leave it unattended.
    process.on("uncaughtException", () => {
      if (this.#agent?.pid) signalGroup(this.#agent.pid, "SIGKILL");
      process.exit(1);
    });
    if (this.#spec.mode === "stream") this.#start(null);
    else this.#note({ type: "started" });
    setInterval(() => this.#look(), POLL_MS);
    setInterval(() => this.#checkEngine(), ENGINE_CHECK_MS);
    try {
      watch(this.#at.requests, () => this.#look());
    } catch {
      // Without notifications (there is a limit to them) it looks now and then.
    }
    this.#look();
  }

  #note(entry: JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, "offset"> : never) : never): void {
    appendFileSync(this.#at.journal, `${JSON.stringify({ ...entry, offset: fstatSync(this.#output).size })}\n`, {
      mode: 0o600,
    });
  }

  #look(): void {
    for (const name of listRequests(join(this.#at.requests, ".."))) {
      if (this.#done.has(name)) continue;
      this.#done.add(name);
      this.#carryOut(JSON.parse(readFileSync(join(this.#at.requests, name), "utf8")) as KeeperRequest);
    }
  }

  #carryOut(request: KeeperRequest): void {
    switch (request.type) {
      case "turn":
        if (this.#ending) return;
        if (this.#spec.mode === "stream") this.#sendTurn(request);
        else if (this.#agent) this.#waiting.push(request);
        else this.#start(request);
        return;
      case "input":
        this.#agent?.stdin?.write(request.input);
        return;
      case "interrupt":
        this.#interrupt(request);
        return;
      case "close":
        this.#close();
        return;
      case "stop":
        this.end("stopped");
    }
  }

  /** The note comes first: a turn that may have been sent must never be sent again. */
  #sendTurn(request: TurnRequest): void {
    this.#noteSent(request);
    this.#agent?.stdin?.write(request.input);
    this.#interruptEarly();
  }

  #noteSent({ number }: TurnRequest): void {
    this.#sent = number;
    this.#note({ type: "sent", turn: number });
  }

  #interruptEarly(): void {
    const request = this.#early.get(this.#sent);
    if (request) this.#interrupt(request);
  }

  /** The note comes first: what the agent does from here on it may do because it was asked to stop. */
  #interrupt(request: InterruptRequest): void {
    const { turn, input } = request;
    if (turn > this.#sent) this.#early.set(turn, request);
    if (turn !== this.#sent || this.#ending || !this.#agent) return;
    this.#note({ type: "interrupted", turn });
    if (input === null) void this.#kill();
    else this.#agent.stdin?.write(input);
  }

  #start(turn: TurnRequest | null): void {
    const { command, cwd, env, passEnv } = this.#spec;
    const passed = Object.fromEntries(
      passEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const [program, ...args] = command;
    if (turn) this.#noteSent(turn);
    const agent = spawn(program!, args, {
      cwd,
      env: { ...passed, ...env },
      stdio: ["pipe", this.#output, this.#errors],
      detached: true,
    });
    this.#agent = agent;
    // An agent that closes its stdin early is no reason to fall over; its exit will tell.
    agent.stdin!.on("error", () => {});
    agent.once("error", (error) => {
      this.#agent = null;
      this.#note({ type: "unstartable", turn: turn?.number ?? null, error: error.message });
      void this.#finish("exited");
    });
    agent.once("spawn", () => {
      if (turn) agent.stdin!.end(turn.input);
      else this.#note({ type: "started" });
    });
    agent.once("exit", (code, signal) => this.#exited(agent, code, signal));
    if (turn) this.#interruptEarly();
  }

  #exited(agent: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#agent = null;
    const deliberate = this.#ending === "stopped" || this.#ending === "orphaned";
    this.#note({ type: "exited", code, signal, deliberate });
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    if (this.#spec.mode === "stream" || this.#ending) void this.#finish(this.#ending ?? "exited");
    else if (this.#waiting.length > 0) this.#start(this.#waiting.shift()!);
  }

  /** No more input, a time of grace, then the end. */
  #close(): void {
    if (this.#ending) return;
    this.#ending = "closed";
    if (!this.#agent) {
      void this.#finish("closed");
      return;
    }
    this.#agent.stdin?.end();
    setTimeout(() => void this.#kill(), this.#spec.graceMs);
  }

  end(reason: "stopped" | "orphaned"): void {
    if (this.#ending === "stopped" || this.#ending === "orphaned") return;
    this.#ending = reason;
    try {
      this.#note({ type: "stopping" });
    } catch {
      // On a full disk the end matters more than the note about it.
    }
    if (this.#agent) void this.#kill();
    else void this.#finish(reason);
  }

  async #kill(): Promise<void> {
    const pid = this.#agent?.pid;
    if (!pid) return;
    signalGroup(pid, "SIGTERM");
    await sleep(TERM_TO_KILL_MS);
    signalGroup(pid, "SIGKILL");
  }

  #finishing = false;

  async #finish(reason: SessionEnd["reason"]): Promise<void> {
    if (this.#finishing) return;
    this.#finishing = true;
    await sweep("TUTTI_SESSION_KEY", this.#spec.sessionId, sleep);
    writeJson(this.#at.end, { reason } satisfies SessionEnd);
    rmSync(this.#at.keeper, { force: true });
    closeSync(this.#output);
    process.exit(0);
  }

  #checkEngine(): void {
    const engine = readJson<ProcessIdentity>(this.#spec.engineFile);
    if (engine && isAlive(engine)) this.#lastSeenEngine = Date.now();
    else if (Date.now() - this.#lastSeenEngine > this.#spec.orphanAfterMs) this.end("orphaned");
  }
}

function main(folder: string): void {
  const at = paths(folder);
  // In place before anybody can know this process: until there is something to end, a signal only ends the keeper.
  let keeper: Keeper | null = null;
  process.on("SIGTERM", () => (keeper ? keeper.end("stopped") : process.exit(0)));
  if (!writeJsonOnce(at.keeper, identify(process.pid))) return;
  // The session may have run and ended between the engine's look and ours.
  if (existsSync(at.end) || readdirSync(folder).includes("journal.jsonl")) {
    rmSync(at.keeper, { force: true });
    return;
  }
  keeper = new Keeper(folder, readJson<KeeperSpec>(at.spec)!);
  keeper.run();
}

main(process.argv[2]!);
