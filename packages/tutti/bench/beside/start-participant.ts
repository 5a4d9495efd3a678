// Runs participants as processes: one without interruption, and one that is killed in the middle and resumed by
// another.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { recoveryOf, type Recovery } from "./figures.ts";
import { takePart, type Setting } from "./participant.ts";
import type { Record } from "./recorder.ts";

/** Number of finished tasks at the kill. */
const KILLED_AFTER = 400;
const PATIENCE_MS = 180_000;

const FLAG = "--take-part";

/** Returns whether this process was started with `FLAG` and has done its part. */
export async function tookPart(): Promise<boolean> {
  const [flag, setting] = process.argv.slice(2);
  if (flag !== FLAG) return false;
  process.once("disconnect", () => process.exit(1));
  const record = await takePart(JSON.parse(setting!) as Setting);
  process.send!(record, () => process.exit());
  return true;
}

/** Hides the peers' information and warnings, but not their errors. */
const QUIET = { NODE_NO_WARNINGS: "1", RESTATE_LOGGING: "ERROR" };

function start(setting: Setting): ChildProcess {
  // The compile cache is kept between starts, so that TypeScript stripping is not measured.
  const env = { ...process.env, ...QUIET, NODE_COMPILE_CACHE: join(dirname(setting.folder), "compiled") };
  return fork(process.argv[1]!, [FLAG, JSON.stringify(setting)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env,
  });
}

async function result(child: ChildProcess): Promise<Record> {
  const patience = new AbortController();
  try {
    return await Promise.race([
      once(child, "message").then(([record]) => record as Record),
      once(child, "exit").then(([code, signal]) => {
        throw new Error(`the participant ended with ${code ?? signal}`);
      }),
      wait(PATIENCE_MS, null, { signal: patience.signal }).then(() => {
        throw new Error(`the participant did not finish in ${PATIENCE_MS / 1000} s`);
      }),
    ]);
  } finally {
    patience.abort();
    child.kill("SIGKILL");
  }
}

export function inPeace(setting: Omit<Setting, "trace" | "isResumed">): Promise<Record> {
  mkdirSync(setting.folder);
  return result(start({ ...setting, trace: null, isResumed: false }));
}

export async function killed(setting: Omit<Setting, "trace" | "isResumed">): Promise<Recovery> {
  mkdirSync(setting.folder);
  const trace = join(setting.folder, "trace");
  const first = start({ ...setting, trace, isResumed: false });
  const exited = once(first, "exit");
  const until = performance.now() + PATIENCE_MS;
  while (finishedIn(trace) < KILLED_AFTER) {
    if (first.exitCode !== null || performance.now() > until)
      throw new Error("the participant did not reach the kill point");
    await wait(1);
  }
  first.kill("SIGKILL");
  await exited;
  const { size } = statSync(trace);
  const restarted = process.hrtime.bigint();
  await result(start({ ...setting, trace, isResumed: true }));
  return recoveryOf(readFileSync(trace, "utf8"), size, restarted, process.hrtime.bigint());
}

function finishedIn(trace: string): number {
  return existsSync(trace) ? readFileSync(trace, "utf8").split("\nended ").length - 1 : 0;
}
