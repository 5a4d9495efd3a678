// The keeper is a separate process that runs the agent of one session at a time (`HeldAgent`). It holds the agent's stdin
// and outlives the engine, so a killed engine leaves its agents working.
//
// Invariants
// 1. A session starts once: the process that creates `keeper.json` keeps the session, any other keeper exits.
// 2. A keeper leaves by SIGKILL of itself, because Node may hang in its own exit.
// 3. A spare keeper keeps one session after the other, if each was closed after its work and had no dialogue. In between
//    it has no mark, no file, no port and no timer of a session. A signal ends it for good.
import { existsSync, readdirSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { HeldAgent, type KeeperPlace } from "./held-agent.ts";
import { loadDialogue, type DialogueName } from "../dialogues.ts";
import {
  closeLaunch,
  EnginePipe,
  readLaunch,
  readLaunchLine,
  SPARE,
  WARM,
  whenClaimed,
  type KeeperLaunch,
} from "./keeper-launch.ts";
import { identify } from "../process.ts";
import { paths, readJson, writeJsonOnce, type KeeperSpec } from "./session-folder.ts";
import { lockLimitOf, LOWEST_LIMIT, setLockLimit, setLockLimitAside } from "./session-processes.ts";
import { readWhole } from "./session-file.ts";
import { openPort } from "../tools/tool-listener.ts";
import { removeFile } from "../../durable-file.ts";

/** Not `process.exit`: in about one of a thousand exits, Node waits for ever for one of its own threads. */
function leave(): void {
  // Node stores compiled code only in its own exit.
  flushCompileCache();
  process.kill(process.pid, "SIGKILL");
}

let current: HeldAgent | null = null;
/** A signal may be for a session that has just ended. */
let mustLeave = false;

/** `isMarked` resolves with false if this process cannot have the mark of the session. */
async function keep(
  folder: string,
  launch: KeeperLaunch | null,
  place: KeeperPlace,
  isMarked: Promise<boolean> | true,
  onStart: () => void,
): Promise<void> {
  const at = paths(folder);
  // Another engine may have ended this warm session and started it anew, before this keeper was up.
  const isObsolete = launch?.warm !== undefined && readWhole(at.warm)?.toString("utf8") !== launch.warm;
  if (launch === null || isObsolete || !writeJsonOnce(at.keeper, identify(process.pid))) return leave();
  // The session may have run and ended since the engine checked the folder.
  if (existsSync(at.end) || (!launch.revival && readdirSync(folder).includes("journal.jsonl"))) {
    removeFile(at.keeper);
    return leave();
  }
  const agent = new HeldAgent(folder, readJson<KeeperSpec>(at.spec)!, launch, place);
  current = agent;
  if (!(await isMarked)) {
    removeFile(at.keeper);
    return leave();
  }
  onStart();
  if (launch.warm !== undefined)
    whenClaimed(
      () => agent.claim(),
      () => agent.end("stopped"),
    );
  await agent.run();
}

/** Installed before `keeper.json` names this process. Without a session, SIGTERM only ends the keeper. */
function handleSignals(): void {
  process.on("SIGTERM", () => {
    mustLeave = true;
    if (current) current.end("stopped");
    else leave();
  });
  process.on("uncaughtException", () => {
    if (current) current.abandon();
    else leave();
  });
}

/** Waits for sessions, ready to start their agents, until the engine has no use for this keeper or has ended. */
async function keepOneByOne(dialogue: string | undefined): Promise<void> {
  if (dialogue !== undefined) await loadDialogue(dialogue as DialogueName);
  // A keeper that could not be marked later would lose track of its agent's processes.
  if (!setLockLimit(LOWEST_LIMIT)) return leave();
  handleSignals();
  const home = process.cwd();
  const engine = new EnginePipe();
  for (;;) {
    const port = await openPort();
    engine.report("waiting");
    const given = await engine.read();
    // A signal that was sent before the session arrived is handled first.
    await new Promise((resolve) => void setImmediate(resolve));
    if (given === null || mustLeave) return leave();
    process.chdir(given.folder);
    const isMarked = setLockLimitAside(lockLimitOf(given.sessionId));
    const { promise: over, resolve: isOver } = Promise.withResolvers<void>();
    const removeMark = () => engine.isOpen && !mustLeave && setLockLimitAside(LOWEST_LIMIT);
    // The pipe reports the start only then, so that the engine notices if no session has started.
    await keep(given.folder, given.launch, { port, removeMark, isOver, leave }, isMarked, () =>
      engine.report("started"),
    );
    await over;
    current = null;
    if (mustLeave) return leave();
    process.chdir(home);
  }
}

async function start([first, second, dialogue]: string[]): Promise<void> {
  if (first === SPARE) return keepOneByOne(dialogue);
  // Until here, SIGTERM ends this process at once, although it blocks.
  const launch = second === WARM ? readLaunchLine() : readLaunch<KeeperLaunch>();
  handleSignals();
  const place: KeeperPlace = { port: null, removeMark: () => false, isOver: leave, leave };
  await keep(first!, launch, place, true, () => {
    if (second !== WARM) closeLaunch();
  });
}

void start(process.argv.slice(2));
