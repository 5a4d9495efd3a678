// The folder through which engine and keeper of one session speak. Files of one value appear whole (written beside, then
// renamed or linked), the others only grow, so either side may die at any moment and the other still reads sense.
//
// After a power cut, too, a file of one value is whole or missing. Of the others any part may be missing, and with them
// any part of what the agent wrote elsewhere. So nothing is taken from the folder of a session that began before the
// machine was started: such a session is lost. For this spec.json lasts, with the boot id in it, before a keeper starts.
//
//   spec.json       what to run; written by the engine before the keeper starts
//   keeper.json     who keeps it (pid, start time, boot id); made once, exclusively: the lock against a second start
//   requests/       what the engine wants, one file each, named so that asking twice is asking once
//   output.log      what the agent wrote, byte for byte but for masked secrets and, once it is over, parts of messages;
//                   or, where it has a protocol of its own, what the keeper made of it
//   raw.log         what such an agent wrote, as long as the session lives
//   stderr.log      its error output
//   journal.jsonl   what the keeper saw, each line with the length of output.log at that moment
//   end.json        written last, when nothing of the agent is left
//   claude/, codex/ what such an agent keeps for itself; gone once the session is archived
//   archive.json    when it was archived; output, errors, journal and requests are then packed (output.log.gz, …)
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DialogueName } from "./dialogues.ts";
import type { ProcessIdentity } from "./process.ts";
import { isThere, readWhole } from "./session-file.ts";
import { bootId, makeFolderDurably, syncFolder, writeDurably } from "../durable-file.ts";
import type { Permissions } from "../schema/permissions.ts";

export interface KeeperSpec {
  sessionId: string;
  runId: string;
  /** The agent as the person named it; whoever reads the output later must know how to read it. */
  agent: string;
  cwd: string;
  /** `stream`: one process that takes lines on stdin. `turn`: one process per turn, prompt on stdin until end of file. */
  mode: "stream" | "turn";
  command: string[];
  /** The protocol of its own that the agent speaks, if it has one; only in `stream` mode. */
  dialogue: DialogueName | null;
  permissions: Permissions;
  /** What asks the agent to stop its turn, where that is a line on its stdin. */
  interrupt: string | null;
  env: Record<string, string>;
  /** Names to take over from the keeper's own environment, so that values need not stand in a file. */
  passEnv: string[];
  /** The file that says which engine works on the data folder. */
  engineFile: string;
  orphanAfterMs: number;
  graceMs: number;
  /** How long an agent that shows every step may show none; null: for ever. */
  stallMs: number | null;
}

export type KeeperRequest =
  | { type: "turn"; number: number; text: string; input: string }
  | { type: "answer"; askId: string; text: string; input: string }
  /** `input` null: the turn is a process of its own, and is ended with it. */
  | { type: "interrupt"; turn: number; input: string | null }
  | { type: "close" }
  | { type: "stop" };

/** `offset` is how much of output.log had been written when it happened. */
export type JournalEntry =
  | { type: "started"; offset: number }
  | { type: "sent"; turn: number; offset: number }
  /** The agent is about to be asked to stop this turn. */
  | { type: "interrupted"; turn: number; offset: number }
  /** Nothing of it moved for this long, so that its process is ended. */
  | { type: "stalled"; forMs: number; offset: number }
  /** We are ending the agent; what it still says belongs to no turn. */
  | { type: "stopping"; offset: number }
  | { type: "unstartable"; turn: number | null; error: string; offset: number }
  | { type: "exited"; code: number | null; signal: string | null; deliberate: boolean; offset: number };

export interface SessionEnd {
  /** `stopped` by the engine, `orphaned` for want of one, `closed` after its work, `exited` by itself. */
  reason: "stopped" | "orphaned" | "closed" | "exited";
  /** No secret is left in what the agent wrote. A keeper that was killed could not see to it. */
  masked?: true;
  /** The keeper that wrote this. It removes `keeper.json` and exits right after, so it may still be alive. */
  keeper?: ProcessIdentity;
}

export interface ArchiveMark {
  /** In milliseconds since 1970. */
  archivedAt: number;
}

export const paths = (folder: string) => ({
  spec: join(folder, "spec.json"),
  keeper: join(folder, "keeper.json"),
  requests: join(folder, "requests"),
  output: join(folder, "output.log"),
  raw: join(folder, "raw.log"),
  errors: join(folder, "stderr.log"),
  journal: join(folder, "journal.jsonl"),
  end: join(folder, "end.json"),
  archive: join(folder, "archive.json"),
});

/** Everything that an agent writes to, by itself or through its keeper. */
export const filesOfAgent = (folder: string): string[] => {
  const { output, raw, errors } = paths(folder);
  return [output, raw, errors];
};

export function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function writeJson(file: string, value: unknown): void {
  renameSync(writeBeside(file, value), file);
}

/** The content is on the disk before it gets the name, so that a power cut leaves no empty file under it. */
function writeBeside(file: string, value: unknown): string {
  const beside = `${file}.${process.pid}.new`;
  rmSync(beside, { force: true });
  writeDurably(beside, JSON.stringify(value), 0o600);
  return beside;
}

/** Makes the file if nobody has; false if somebody was there first. */
export function writeJsonOnce(file: string, value: unknown): boolean {
  const beside = writeBeside(file, value);
  try {
    linkSync(beside, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(beside, { force: true });
  }
}

/** Removes what a process that died in the middle of writing has left. Nobody may be writing any more. */
export function removeUnfinished(folder: string): void {
  for (const place of [folder, paths(folder).requests]) {
    if (!existsSync(place)) continue;
    for (const name of readdirSync(place)) if (name.endsWith(".new")) rmSync(join(place, name), { force: true });
  }
}

export function makeSessionFolder(folder: string): void {
  makeFolderDurably(paths(folder).requests, 0o700);
}

/** Returns when no power cut can make the session look as if it had never begun. */
export function writeSpec(folder: string, spec: KeeperSpec): void {
  writeJson(paths(folder).spec, { ...spec, bootId: bootId() });
  syncFolder(folder);
}

export function isBeforeBoot(folder: string): boolean {
  const begun = readJson<{ bootId?: string }>(paths(folder).spec)?.bootId;
  return begun !== undefined && begun !== bootId();
}

/** A request of one name is made once; turns sort in their order. */
export function request(folder: string, name: string, value: KeeperRequest): void {
  writeJsonOnce(join(paths(folder).requests, `${name}.json`), value);
}

/** The name of the request for a turn; sorts by number. */
export const turnName = (turn: number): string => `turn-${String(turn).padStart(6, "0")}`;

/** The name of the request to stop a turn. */
export const interruptName = (turn: number): string => `interrupt-${String(turn).padStart(6, "0")}`;

export const hasRequest = (folder: string, name: string): boolean =>
  isThere(join(paths(folder).requests, `${name}.json`));

export function readRequest(folder: string, name: string): KeeperRequest | null {
  const whole = readWhole(join(paths(folder).requests, `${name}.json`));
  return whole && (JSON.parse(whole.toString("utf8")) as KeeperRequest);
}

export function listRequests(folder: string): string[] {
  return readdirSync(paths(folder).requests)
    .filter((name) => name.endsWith(".json"))
    .toSorted();
}

export const readKeeper = (folder: string): ProcessIdentity | null => readJson<ProcessIdentity>(paths(folder).keeper);
export const readEnd = (folder: string): SessionEnd | null => readJson<SessionEnd>(paths(folder).end);

/**
 * Ends a session that no keeper has begun: takes the keeper's place, so that one that comes late leaves again. False if
 * a keeper is there.
 */
export function endUnstarted(folder: string, self: ProcessIdentity | null): boolean {
  makeSessionFolder(folder);
  const at = paths(folder);
  if (!writeJsonOnce(at.keeper, self)) return false;
  if (readEnd(folder) === null) writeJson(at.end, { reason: "stopped" } satisfies SessionEnd);
  rmSync(at.keeper, { force: true });
  return true;
}
