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
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ActivityWatch } from "./activity.ts";
import type { AgentLine, Dialogue } from "./dialogue.ts";
import { loadDialogue } from "./dialogues.ts";
import { createSecrets } from "./find-secrets.ts";
import { LineTail } from "./line-tail.ts";
import { FileMask } from "./mask-file.ts";
import { maskValue } from "./mask.ts";
import { identify, isAlive, signalGroup, sweep, type ProcessIdentity } from "./process.ts";
import { secretValues } from "./secrets.ts";
import { readEndOf } from "./session-file.ts";
import { filesOfAgent, listRequests, paths, readJson, writeJson, writeJsonOnce } from "./session-folder.ts";
import type { JournalEntry, KeeperRequest, KeeperSpec, SessionEnd } from "./session-folder.ts";

const POLL_MS = 500;
const ENGINE_CHECK_MS = 2000;
const MASK_MS = 1000;
const ACTIVITY_CHECK_MS = 5000;
const INTERRUPT_TO_TERM_MS = 200;
const TERM_TO_KILL_MS = 2000;
/** How often a conversation whose process died is taken up again. */
const MAX_RELAUNCHES = 1;
/** How much of what the agent wrote to stderr is looked at when it has ended. */
const ERRORS_BYTES = 4096;

type TurnRequest = Extract<KeeperRequest, { type: "turn" }>;
type InterruptRequest = Extract<KeeperRequest, { type: "interrupt" }>;

class Keeper {
  readonly #spec: KeeperSpec;
  readonly #at: ReturnType<typeof paths>;
  readonly #output: number;
  readonly #errors: number;
  readonly #secrets = createSecrets(secretValues(process.env));
  readonly #masks: FileMask[];
  readonly #done = new Set<string>();
  /** Turns that wait until the process of the turn before has ended (in `turn` mode). */
  readonly #waiting: TurnRequest[] = [];
  /** Interrupts by turn, of turns that have not been sent yet: requests need not be found in the order they were made. */
  readonly #early = new Map<number, InterruptRequest>();
  /** The turn that was sent last; one before it is over, and so is no longer to be interrupted. */
  #sent = 0;
  #agent: ChildProcess | null = null;
  #dialogue: Dialogue | null = null;
  #tail: LineTail | null = null;
  #ready = false;
  /** Whether the process that runs now has come so far. */
  #running = false;
  /** The turn that a dialogue has begun and not ended. */
  #open: TurnRequest | null = null;
  #relaunches = 0;
  /** The turn that was asked to stop last: it is not given to a new process. */
  #stoppedTurn = 0;
  readonly #asks = new Set<string>();
  #ending: SessionEnd["reason"] | null = null;
  #lastSeenEngine = Date.now();

  constructor(folder: string, spec: KeeperSpec) {
    this.#spec = spec;
    this.#at = paths(folder);
    this.#output = openSync(this.#at.output, "a", 0o600);
    this.#errors = openSync(this.#at.errors, "a", 0o600);
    this.#masks = filesOfAgent(folder).map((file) => new FileMask(file, this.#secrets));
  }

  async run(): Promise<void> {
    // A keeper that cannot go on (a full disk, say) takes its agent with it rather than leave it unattended.
    process.on("uncaughtException", () => {
      if (this.#agent?.pid) signalGroup(this.#agent.pid, "SIGKILL");
      process.exit(1);
    });
    await this.#openDialogue();
    // It may have been told to end while it was getting ready.
    if (this.#ending) return;
    if (this.#spec.mode === "stream") this.#start(null);
    else this.#note({ type: "started" });
    setInterval(() => this.#look(), POLL_MS);
    setInterval(() => this.#checkEngine(), ENGINE_CHECK_MS);
    setInterval(() => this.#mask(), MASK_MS);
    // Elsewhere nobody can see whether it is at work.
    if (this.#dialogue && this.#spec.stallMs !== null && process.platform === "linux")
      this.#watchActivity(this.#spec.stallMs);
    try {
      watch(this.#at.requests, () => this.#look());
    } catch {
      // Without notifications (there is a limit to them) it looks now and then.
    }
    this.#look();
  }

  async #openDialogue(): Promise<void> {
    const { dialogue, sessionId, cwd, permissions, command } = this.#spec;
    if (dialogue === null) return;
    closeSync(openSync(this.#at.raw, "a", 0o600));
    const open = await loadDialogue(dialogue);
    this.#dialogue = open({
      sessionId,
      cwd,
      permissions,
      command,
      write: (text) => void this.#agent?.stdin?.write(text),
      tell: (line) => this.#tell(line),
      ready: () => this.#nowReady(),
      fail: (error) => this.#fail(null, error),
    });
    this.#tail = new LineTail(this.#at.raw, (line) => {
      if (line.trim() !== "") this.#dialogue!.hear(line);
    });
  }

  #tell(line: AgentLine): void {
    if (line.type === "turn_end") this.#open = null;
    if (line.type === "ask") this.#asks.add(line.id);
    if (line.type === "ask_cancelled") this.#asks.delete(line.id);
    writeSync(this.#output, `${JSON.stringify(maskValue(this.#secrets, line))}\n`);
  }

  /** Once for the session; after a relaunch the turn that was cut off is given again. */
  #nowReady(): void {
    if (!this.#ready) this.#note({ type: "started" });
    this.#ready = true;
    this.#running = true;
    if (this.#open?.number === this.#stoppedTurn) this.#tell({ type: "turn_end", error: "the turn was interrupted" });
    if (this.#open) this.#dialogue!.turn(this.#open);
    for (const request of this.#waiting.splice(0)) this.#sendTurn(request);
  }

  #fail(turn: number | null, error: string): void {
    this.#note({ type: "unstartable", turn, error });
    if (this.#agent) void this.#kill();
    else void this.#finish("exited");
  }

  /** A dialogue must hear what the agent said as it said it. */
  #mask(): void {
    this.#tail?.read();
    for (const mask of this.#masks) mask.look();
  }

  #note(entry: JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, "offset"> : never) : never): void {
    const masked = maskValue(this.#secrets, { ...entry, offset: fstatSync(this.#output).size });
    appendFileSync(this.#at.journal, `${JSON.stringify(masked)}\n`, { mode: 0o600 });
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
        if (this.#dialogue && !this.#ready) this.#waiting.push(request);
        else if (this.#spec.mode === "stream") this.#sendTurn(request);
        else if (this.#agent) this.#waiting.push(request);
        else this.#start(request);
        return;
      case "answer":
        this.#asks.delete(request.askId);
        if (this.#dialogue) this.#dialogue.answer(request.askId, request.text);
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
    if (this.#dialogue) {
      this.#open = request;
      this.#dialogue.turn(request);
    } else this.#agent?.stdin?.write(request.input);
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
    this.#stoppedTurn = turn;
    if (this.#dialogue && !this.#running) return;
    if (this.#dialogue) this.#dialogue.interrupt();
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
    const output = this.#dialogue ? openSync(this.#at.raw, "a", 0o600) : this.#output;
    const agent = spawn(program!, args, {
      cwd,
      env: { ...passed, ...env },
      stdio: ["pipe", output, this.#errors],
      detached: true,
    });
    if (this.#dialogue) closeSync(output);
    this.#agent = agent;
    // An agent that closes its stdin early is no reason to fall over; its exit will tell.
    agent.stdin!.on("error", () => {});
    agent.once("error", (error) => {
      this.#agent = null;
      this.#fail(turn?.number ?? null, error.message);
    });
    agent.once("spawn", () => {
      if (turn) agent.stdin!.end(turn.input);
      else if (this.#dialogue) this.#dialogue.open();
      else this.#note({ type: "started" });
    });
    agent.once("exit", (code, signal) => this.#exited(agent, code, signal));
    if (turn) this.#interruptEarly();
  }

  #exited(agent: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#agent = null;
    const deliberate = this.#ending === "stopped" || this.#ending === "orphaned";
    this.#tail?.finish();
    if (this.#dialogue && this.#relaunch(agent)) return;
    if (!deliberate) this.#dialogue?.exited({ code, signal, errors: readEndOf(this.#at.errors, ERRORS_BYTES) });
    this.#note({ type: "exited", code, signal, deliberate });
    if (agent.pid) signalGroup(agent.pid, "SIGKILL");
    if (this.#spec.mode === "stream" || this.#ending) void this.#finish(this.#ending ?? "exited");
    else if (this.#waiting.length > 0) this.#start(this.#waiting.shift()!);
  }

  /** A conversation that was cut off in the middle of a turn is taken up again, where its agent can do that. */
  #relaunch(agent: ChildProcess): boolean {
    if (!this.#open || this.#open.number === this.#stoppedTurn) return false;
    if (this.#ending || this.#relaunches >= MAX_RELAUNCHES) return false;
    const command = this.#dialogue?.relaunch?.() ?? null;
    if (command === null) return false;
    this.#relaunches += 1;
    this.#running = false;
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
      this.#note({ type: "stopping" });
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
    if (this.#dialogue && !this.#open) return false;
    if (this.#dialogue) this.#dialogue.interrupt();
    else if (this.#spec.interrupt !== null && this.#sent > 0) agent.stdin?.write(this.#spec.interrupt);
    else return false;
    return true;
  }

  #finishing = false;

  async #finish(reason: SessionEnd["reason"]): Promise<void> {
    if (this.#finishing) return;
    this.#finishing = true;
    await sweep("TUTTI_SESSION_KEY", this.#spec.sessionId, sleep);
    for (const mask of this.#masks) mask.finish();
    writeJson(this.#at.end, { reason, masked: true } satisfies SessionEnd);
    rmSync(this.#at.keeper, { force: true });
    closeSync(this.#output);
    process.exit(0);
  }

  /**
   * An agent that shows every step and shows none, while nothing of it is at work, has lost its connection. Its process
   * is ended; where its conversation can be taken up again, it is.
   */
  #watchActivity(stallMs: number): void {
    const watch = new ActivityWatch(this.#spec.sessionId, performance.now());
    setInterval(
      () => {
        if (!this.#open || this.#asks.size > 0 || !this.#agent || this.#ending) return watch.touch(performance.now());
        if (watch.look(statSync(this.#at.raw).size, performance.now()) < stallMs) return;
        watch.touch(performance.now());
        this.#note({ type: "stalled", forMs: stallMs });
        // Whoever hears nothing need not be asked, and is not to blame for the end of its turn.
        void this.#kill(false);
      },
      Math.min(ACTIVITY_CHECK_MS, stallMs / 3),
    );
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
