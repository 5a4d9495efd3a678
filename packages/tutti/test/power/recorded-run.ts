// Records a whole run of a small project, and computes the states that a power cut could leave.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Disk, type Found, type Luck, type Model } from "./disk.ts";
import { readTree, writeTree } from "./files.ts";
import { findLosses, toldEvents } from "./find-losses.ts";
import type { Operation } from "./operation.ts";
import { record } from "./record.ts";
import type { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));

export interface Moment {
  /** Number of `operations` before the power cut. */
  at: number;
  model: Model;
  luck: Luck;
}

export interface RecordedRun {
  lab: Lab;
  /** The content before the first command, which is safe. */
  before: Map<string, Found>;
  operations: Operation[];
}

/** Two workers, one of which depends on the other, so that work is accepted, merged and built upon. */
export async function recordRun(lab: Lab): Promise<RecordedRun> {
  const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]), goodWorker]);
  const args = ["--json", "run", "two things", "--cwd", lab.repo, "--agent", agent, "--yes"];
  return recordProgram(lab, [LAUNCHER, "--data-dir", lab.data, ...args]);
}

export async function recordProgram(lab: Lab, args: string[]): Promise<RecordedRun> {
  // Sample hooks only make every state larger.
  rmSync(join(lab.repo, ".git", "hooks"), { recursive: true });
  const before = readTree(lab.folder);
  const { code, stderr, operations } = await record([process.execPath, ...args], lab.folder, lab.folder);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
  return { lab, before, operations };
}

/** Writes the state to the lab's own folder, because the log and the repository contain absolute paths. */
export function loseTheRest({ lab, before, operations }: RecordedRun, { at, model, luck }: Moment): void {
  const disk = new Disk(lab.folder, before);
  for (const operation of operations.slice(0, at)) disk.apply(operation);
  writeTree(lab.folder, afterBoot(lab, disk.afterLoss(model, luck)));
}

export const tellingMoments = (operations: readonly Operation[]): number[] =>
  operations.flatMap((operation, i) => (operation.type === "said" ? [i + 1] : []));

export async function lossesAt(run: RecordedRun, moment: Moment): Promise<string[]> {
  loseTheRest(run, moment);
  return findLosses(run.lab, toldEvents(run.operations.slice(0, moment.at)));
}

export function withoutSyncs(run: RecordedRun, forgotten: (path: string) => boolean): RecordedRun {
  const operations = run.operations.filter((operation) => operation.type !== "sync" || !forgotten(operation.path));
  return { ...run, operations };
}

/** After a power cut the boot id differs, so the recorded one is replaced. SQLite's shared memory is deleted. */
function afterBoot(lab: Lab, found: Map<string, Found>): Map<string, Found> {
  const now = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  const old = now.replaceAll(/[0-9a-f]/g, "0");
  const result = new Map<string, Found>();
  for (const [path, each] of found) {
    if (path.endsWith("-shm")) continue;
    const isOurs = each.kind === "file" && path.startsWith(lab.data) && each.bytes.includes(now);
    const bytes = isOurs ? Buffer.from(each.bytes.toString("latin1").replaceAll(now, old), "latin1") : null;
    result.set(path, bytes && each.kind === "file" ? { ...each, bytes } : each);
  }
  return result;
}
