// The keeper: a small process of its own for one session. It holds the agent's stdin, lets the agent write to files, and
// outlives the engine, so that whatever kills the engine leaves the agent at work. It takes no decision: it carries out
// the requests in the session's folder and writes down what it sees.
//
// Invariants
// 1. One session is started once: whoever makes keeper.json keeps it, everybody else leaves again.
// 2. The agent writes straight into a file, so nothing it says passes through a pipe that a death could cut. Where it has
//    a protocol of its own, a dialogue reads that file and answers it.
// 3. end.json is written last, when no process of the session is left.
// 4. Without an engine for the set time, the session is ended.
// 5. No secret stays in what is kept: what the keeper writes is masked before, what the agent writes soon after.
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openConversation, type Conversation } from "./conversation.ts";
import { identify, isAlive, signalGroup, sweep, type ProcessIdentity } from "./process.ts";
import { listRequests, paths, readJson, writeJson, writeJsonOnce } from "./session-folder.ts";
import type { KeeperRequest, KeeperSpec, SessionEnd } from "./session-folder.ts";
import { SessionRecord } from "./session-record.ts";

const POLL_MS = 500;
const ENGINE_CHECK_MS = 2000;
const MASK_MS = 1000;
const ACTIVITY_CHECK_MS = 5000;
const INTERRUPT_TO_TERM_MS = 200;
const TERM_TO_KILL_MS = 2000;

type TurnRequest = Extract<KeeperRequest, { type: "turn" }>;
type InterruptRequest = Extract<KeeperRequest, { type: "interrupt" }>;

class Keeper {
  readonly #spec: KeeperSpec;
  readonly #at: ReturnType<typeof paths>;
  readonly #folder: string;
  readonly #record: SessionRecord;
  readonly #errors: number;
  readonly #done = new Set<string>();
  /** Turns that wait until the process of the turn before has ended (in `turn` mode), or until the agent is ready. */
  readonly #waiting: TurnRequest[] = [];
  /** Interrupts by turn, of turns that have not been sent yet: requests need not be found in the order they were made. */
  readonly #early = new Map<number, InterruptRequest>();
  /** The turn that was sent last; one before it is over, and so is no longer to be interrupted. */
  #sent = 0;
  #agent: ChildProcess | null = null;
  /** With an agent that has a protocol of its own. */
  #conversation: Conversation | null = null;
  #ending: SessionEnd["reason"] | null = null;
  #lastSeenEngine = Date.now();

  constructor(folder: string, spec: KeeperSpec) {
    this.#spec = spec;
    this.#at = paths(folder);
    this.#folder = folder;
    this.#record = new SessionRecord(folder);
    this.#errors = openSync(this.#at.errors, "a", 0o600);
  }

  async run(): Promise<void> {
    // A keeper that cannot go on (a full disk, say) takes its agent with it rather than leave it unattended.
    process.on("uncaughtException", () => {
      if (this.#agent?.pid) signalGroup(this.#agent.pid, "SIGKILL");
      process.exit(1);
    });
    await this.#openConversation();
    // It may have been told to end while it was getting ready.
    if (this.#ending) return;
    if (this.#spec.mode === "stream") this.#start(null);
    else this.#record.note({ type: "started" });
    setInterval(() => this.#look(), POLL_MS);
    setInterval(() => this.#checkEngine(), ENGINE_CHECK_MS);
    setInterval(() => this.#mask(), MASK_MS);
    // Elsewhere nobody can see whether it is at work.
    if (this.#spec.stallMs !== null && process.platform === "linux") this.#watchActivity(this.#spec.stallMs);
    try {
      watch(this.#at.requests, () => this.#look());
    } catch {
      // Without notifications (there is a limit to them) it looks now and then.
    }
    this.#look();
  }

  async #openConversation(): Promise<void> {
    const { dialogue } = this.#spec;
    if (dialogue === null) return;
    this.#conversation = await openConversation(dialogue, {
      folder: this.#folder,
      spec: this.#spec,
      record: this.#record,
      write: (text) => void this.#agent?.stdin?.write(text),
      ready: () => {
        this.#record.note({ type: "started" });
        for (const request of this.#waiting.splice(0)) this.#sendTurn(request);
      },
      fail: (error) => this.#fail(null, error),
    });
  }

  #fail(turn: number | null, error: string): void {
    this.#record.note({ type: "unstartable", turn, error });
    if (this.#agent) void this.#kill();
    else void this.#finish("exited");
  }

  /** A dialogue must hear what the agent said as it said it. */
  #mask(): void {
    this.#conversation?.read();
    this.#record.mask();
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
        if (this.#conversation?.isReady === false) this.#waiting.push(request);
        else if (this.#spec.mode === "stream") this.#sendTurn(request);
        else if (this.#agent) this.#waiting.push(request);
        else this.#start(request);
        return;
      case "answer":
        if (this.#conversation) this.#conversation.answer(request.askId, request.text);
        else this.#agent?.stdin?.write(request.input);
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
    if (this.#conversation) this.#conversation.turn(request);
    else this.#agent?.stdin?.write(request.input);
    this.#interruptEarly();
  }

  #noteSent({ number }: TurnRequest): void {
    this.#sent = number;
    this.#record.note({ type: "sent", turn: number });
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
    this.#record.note({ type: "interrupted", turn });
    if (this.#conversation) this.#conversation.interrupt(turn);
    else if (input === null) void this.#kill();
    else this.#agent.stdin?.write(input);
  }

  #start(turn: TurnRequest | null, command = this.#spec.command): void {
    const { cwd, env, passEnv } = this.#spec;
    const passed = Object.fromEntries(
      passEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const [program, ...args] = command;
    if (turn) this.#noteSent(turn);
    const output = this.#conversation ? openSync(this.#at.raw, "a", 0o600) : this.#record.output;
    const agent = spawn(program!, args, {
      cwd,
      env: { ...passed, ...env },
      stdio: ["pipe", output, this.#errors],
      detached: true,
    });
    if (this.#conversation) closeSync(output);
    this.#agent = agent;
    // An agent that closes its stdin early is no reason to fall over; its exit will tell.
    agent.stdin!.on("error", () => {});
    agent.once("error", (error) => {
      this.#agent = null;
      this.#fail(turn?.number ?? null, error.message);
    });
    agent.once("spawn", () => {
      if (turn) agent.stdin!.end(turn.input);
      else if (this.#conversation) this.#conversation.begin();
      else this.#record.note({ type: "started" });
    });
    agent.once("exit", (code, signal) => this.#exited(agent, code, signal));
    if (turn) this.#interruptEarly();
  }

  #exited(agent: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#agent = null;
    const deliberate = this.#ending === "stopped" || this.#ending === "orphaned";
    this.#conversation?.finish();
    if (!this.#ending && this.#takeUp(agent)) return;
    if (!deliberate) this.#conversation?.exited({ code, signal });
    this.#record.note({ type: "exited", code, signal, deliberate });
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    if (this.#spec.mode === "stream" || this.#ending) void this.#finish(this.#ending ?? "exited");
    else if (this.#waiting.length > 0) this.#start(this.#waiting.shift()!);
  }

  /** A conversation that was cut off goes on in a process of its own, where its agent can do that. */
  #takeUp(agent: ChildProcess): boolean {
    const command = this.#conversation?.takeUp() ?? null;
    if (command === null) return false;
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    this.#start(null, command);
    return true;
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
      this.#record.note({ type: "stopping" });
    } catch {
      // On a full disk the end matters more than the note about it.
    }
    if (this.#agent) void this.#kill();
    else void this.#finish(reason);
  }

  /** First it is asked to stop, then told, then made to. What is left of it afterwards is swept up at the end. */
  async #kill(asking = true): Promise<void> {
    const agent = this.#agent;
    const pid = agent?.pid;
    if (!pid) return;
    const isThere = () => this.#agent === agent;
    if (asking && this.#askToStop(agent)) await sleep(INTERRUPT_TO_TERM_MS);
    if (isThere()) signalGroup(pid, "SIGTERM");
    await sleep(TERM_TO_KILL_MS);
    if (isThere()) signalGroup(pid, "SIGKILL");
  }

  #askToStop(agent: ChildProcess): boolean {
    if (this.#conversation) return this.#conversation.askToStop();
    if (this.#spec.interrupt !== null && this.#sent > 0) agent.stdin?.write(this.#spec.interrupt);
    else return false;
    return true;
  }

  #finishing = false;

  async #finish(reason: SessionEnd["reason"]): Promise<void> {
    if (this.#finishing) return;
    this.#finishing = true;
    await sweep("TUTTI_SESSION_KEY", this.#spec.sessionId, sleep);
    this.#record.finish();
    const self = identify(process.pid);
    writeJson(this.#at.end, { reason, masked: true, ...(self ? { keeper: self } : {}) } satisfies SessionEnd);
    rmSync(this.#at.keeper, { force: true });
    process.exit(0);
  }

  /** The process of an agent of which nothing moves is ended; where its conversation can be taken up again, it is. */
  #watchActivity(stallMs: number): void {
    const look = () => {
      if (!this.#agent || this.#ending || !this.#conversation?.hasStalled(stallMs)) return;
      this.#record.note({ type: "stalled", forMs: stallMs });
      // Whoever hears nothing need not be asked, and is not to blame for the end of its turn.
      void this.#kill(false);
    };
    setInterval(look, Math.min(ACTIVITY_CHECK_MS, stallMs / 3));
  }

  #checkEngine(): void {
    const engine = readJson<ProcessIdentity>(this.#spec.engineFile);
    if (engine && isAlive(engine)) this.#lastSeenEngine = Date.now();
    else if (Date.now() - this.#lastSeenEngine > this.#spec.orphanAfterMs) this.end("orphaned");
  }
}

async function main(folder: string): Promise<void> {
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
  await keeper.run();
}

await main(process.argv[2]!);
