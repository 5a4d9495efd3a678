// The session folder: the engine and the keeper of one session exchange files in it.
//
// 1. JSON files appear whole (written under another name, then renamed or linked) and the other files only grow, so
//    either process may die at any moment.
// 2. After a power cut a JSON file is whole or missing. Any part of the other files may be missing, and any part of the
//    agent's work in the workspace. So a session that started before the last boot is lost, and its folder is not read.
//    `writeSpec` therefore syncs `spec.json` with the boot id before the keeper starts.
//
//   spec.json       the command and its settings; written by the engine before the keeper starts
//   warm            says that the agent waits for a session that has not started; see `WarmKeeper`
//   keeper.json     pid, start time and boot id of the keeper; created exclusively: the lock against a second start
//   requests/       one signed file per request of the engine; its name makes a repeated request a no-op
//   output.log      the agent's output, with secrets masked and, after the end, partial messages blanked; for an agent
//                   with its own protocol, the lines that the dialogue makes of it
//   raw.log         the output of an agent with its own protocol; removed at the end of the session
//   stderr.log      the agent's error output, of which the beginning and the end are kept
//   journal.jsonl   the keeper's observations, each with the length of output.log at that moment
//   end.json        written after every process of the agent has ended
//   claude/, codex/ the agent's own files; masked at the end of the session, removed when it is archived
//   scratch/        the temporary files and the home of an agent in the sandbox; removed at the end of the session
//   mcp.sock        the address of the tools for an agent in the sandbox
//   archive.json    the time of archiving; output, errors, journal and requests are then packed (output.log.gz, …)
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { AgentLine } from "../dialogue.ts";
import type { DialogueName } from "../dialogues.ts";
import type { ProcessIdentity } from "../process.ts";
import { isSignedBy, signRequest } from "./request-key.ts";
import type { SandboxSpec } from "../sandbox/sandbox-command.ts";
import { openRegular } from "./open-regular.ts";
import { isThere, parseLine, readWhole } from "./session-file.ts";
import { bootId, isUnwritable, makeFolderDurably, removeFile, syncFolder, writeDurably } from "../../durable-file.ts";
import { environmentFault, findErrno } from "../../environment-fault.ts";
import type { DelegationRight } from "../../schema/task.ts";
import { TuttiError } from "../../schema/error.ts";
import { pathName } from "../../schema/ids.ts";
import type { Permissions } from "../../schema/permissions.ts";
import type { Phase } from "../../schema/status.ts";

export interface KeeperSpec {
  sessionId: string;
  runId: string;
  /** The agent's name as the user gave it. Transcripts find the decoder of the output by it. */
  agent: string;
  cwd: string;
  /**
   * `stream`: one process that reads lines from stdin. `turn`: one process per turn, prompt on stdin until end of file.
   */
  mode: "stream" | "turn";
  command: string[];
  /** The dialogue for an agent with its own protocol; only in `stream` mode. */
  dialogue: DialogueName | null;
  permissions: Permissions;
  /** Missing for no limit. */
  subagentDepth?: number | undefined;
  /** Missing in folders of older versions: their sessions cannot delegate. */
  delegation?: DelegationRight | undefined;
  /** Null for the agent's own default. Missing in folders of older versions. */
  model?: string | null;
  /** The stdin line that interrupts a turn; null if the agent has none. */
  interrupt: string | null;
  /** `engineFile` names the engine that works on the data folder. */
  engineFile: string;
  orphanAfterMs: number;
  graceMs: number;
  /** An agent without activity for `stallMs` has stalled; null switches the check off. */
  stallMs: number | null;
  /** Limits `output.log`; see `watchOutput`. */
  maxOutputBytes: number;
  /** Missing for an agent without a sandbox. */
  sandbox?: SandboxSpec;
}

export type KeeperRequest =
  /** `input` is null for an agent with a dialogue, which encodes the text itself. `message` is for the tool `read_task`. */
  | {
      type: "turn";
      number: number;
      text: string;
      input: string | null;
      phase?: Phase;
      message?: Record<string, unknown>;
    }
  | { type: "answer"; askId: string; text: string; input: string | null }
  /** A message for the agent in the open turn. An agent that cannot receive it may read it with a tool. */
  | { type: "message"; turn: number; id: string; text: string }
  /** Without a dialogue and without `input` the turn is a process, which the keeper kills. */
  | { type: "interrupt"; turn: number; input: string | null }
  | { type: "close" };

/** `offset` is the length of `output.log` at that moment, `at` the time, which folders of older versions do not have. */
export type JournalEntry = { at?: string } & (
  | { type: "started"; offset: number }
  | { type: "sent"; turn: number; offset: number }
  /** The agent called a tool of Tutti. In `output.log` the line could end up within a line of the agent. */
  | { type: "line"; line: AgentLine; offset: number }
  /** Written before the interrupt is sent. */
  | { type: "interrupted"; turn: number; offset: number }
  /** Written before the keeper kills an agent without activity. */
  | { type: "stalled"; forMs: number; offset: number }
  /** Written before the keeper ends the agent. Later output belongs to no turn. */
  | { type: "stopping"; offset: number }
  /** Like `stopping`. The file `name` in `requests/` is not signed by the engine. */
  | { type: "forged"; name: string; offset: number }
  /** Like `stopping`. The agent wrote more than `limit` bytes. */
  | { type: "tooMuchOutput"; limit: number; offset: number }
  /** Written by the first act of a keeper that continues a suspended session. Turns that were open or `unsent` are over. */
  | { type: "revived"; unsent: number[]; offset: number }
  | { type: "unstartable"; turn: number | null; error: string; offset: number }
  /** `resumable`: the agent has a dialogue, so its exit is no statement about the task. */
  | {
      type: "exited";
      code: number | null;
      signal: string | null;
      deliberate: boolean;
      resumable?: boolean;
      offset: number;
    }
);

export interface SessionEnd {
  /**
   * `stopped` by the engine, `orphaned` without an engine, `forged` after a request that the engine did not sign,
   * `tooMuchOutput` beyond its limit, `closed` after its work, `exited` by itself.
   */
  reason: "stopped" | "orphaned" | "forged" | "tooMuchOutput" | "closed" | "exited";
  /** The agent's files are masked. Missing if the keeper was killed; see `maskLeftovers`. */
  masked?: true;
  /**
   * The keeper that wrote this. It removes `keeper.json` and kills itself right after, so it may still be alive. Missing if
   * it stays for another session.
   */
  keeper?: ProcessIdentity;
}

export interface ArchiveMark {
  /** In milliseconds since 1970. */
  archivedAt: number;
}

export const paths = (folder: string) => ({
  spec: join(folder, "spec.json"),
  warm: join(folder, "warm"),
  keeper: join(folder, "keeper.json"),
  requests: join(folder, "requests"),
  output: join(folder, "output.log"),
  raw: join(folder, "raw.log"),
  errors: join(folder, "stderr.log"),
  journal: join(folder, "journal.jsonl"),
  end: join(folder, "end.json"),
  archive: join(folder, "archive.json"),
  socket: join(folder, "mcp.sock"),
});

export const isWarm = (folder: string): boolean => existsSync(paths(folder).warm);

/**
 * Removes the folder of a warm session that was not claimed. It disappears at once, so that no process finds a part of it.
 */
export function removeWarm(folder: string): void {
  if (!existsSync(folder)) return;
  const unused = `${folder}.unused`;
  rmSync(unused, { recursive: true, force: true });
  renameSync(folder, unused);
  rmSync(unused, { recursive: true, force: true });
}

export const filesOfAgent = (folder: string): string[] => {
  const { output, raw, errors } = paths(folder);
  return [output, raw, errors];
};

export function readJson<T>(file: string): T | null {
  const fd = openRegular(file, constants.O_RDONLY);
  if (fd === null) return null;
  try {
    return JSON.parse(readFileSync(fd, "utf8")) as T;
  } finally {
    closeSync(fd);
  }
}

export function writeJson(file: string, value: unknown): void {
  renameSync(writeBeside(file, value), file);
}

/** Syncs the content before the caller renames the file, so a power cut leaves no empty file under the final name. */
function writeBeside(file: string, value: unknown): string {
  const beside = `${file}.${process.pid}.new`;
  removeFile(beside);
  writeDurably(beside, JSON.stringify(value), 0o600);
  return beside;
}

/** `writeJsonOnce` creates the file exclusively; false if it exists. */
export function writeJsonOnce(file: string, value: unknown): boolean {
  const beside = writeBeside(file, value);
  try {
    linkSync(beside, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    removeFile(beside);
  }
}

/** Removes the `.new` files of processes that died while writing. No process may write to the folder. */
export function removeUnfinished(folder: string): void {
  for (const place of [folder, paths(folder).requests]) {
    if (!existsSync(place)) continue;
    for (const name of readdirSync(place)) if (name.endsWith(".new")) removeFile(join(place, name));
  }
}

/** `writeSessionFile` throws `disk_full` or `unwritable` if writing is impossible for now. */
export function writeSessionFile<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw asSessionFault(folder, error);
  }
}

/** Waits for `work`, which writes to the session folder. Throws as `writeSessionFile` does. */
export async function writeSessionFiles(folder: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw asSessionFault(folder, error);
  }
}

function asSessionFault(folder: string, error: unknown): unknown {
  if (!isUnwritable(error)) return error;
  const problem = `The session folder ${JSON.stringify(folder)} cannot be written`;
  const errno = findErrno(error);
  if (errno) return environmentFault(problem, errno, dirname(folder), { cause: error });
  return new TuttiError("unwritable", `${problem}: its permissions do not allow it. Change them.`, { cause: error });
}

export function makeSessionFolder(folder: string): void {
  makeFolderDurably(paths(folder).requests, 0o700);
}

/** Syncs `spec.json`, so that after a power cut the session is known to have started. */
export function writeSpec(folder: string, spec: KeeperSpec): void {
  writeJson(paths(folder).spec, { ...spec, bootId: bootId() });
  syncFolder(folder);
}

export function isBeforeBoot(folder: string): boolean {
  const startedIn = readJson<{ bootId?: string }>(paths(folder).spec)?.bootId;
  return startedIn !== undefined && startedIn !== bootId();
}

/** `request` signs `value` for the keeper. Repeating a `name` changes nothing. */
export function request(folder: string, sessionKey: string, name: string, value: KeeperRequest): void {
  const signature = signRequest(sessionKey, name, value);
  writeJsonOnce(join(paths(folder).requests, `${name}.json`), { ...value, signature });
}

/** `readSigned` returns `forged` if the engine did not write the request. */
export function readSigned(folder: string, sessionKey: string, name: string): KeeperRequest | "forged" | "missing" {
  const file = join(paths(folder).requests, `${name}.json`);
  const fd = openRegular(file, constants.O_RDONLY);
  // A link or a pipe is there, but no file.
  if (fd === null) return lstatSync(file, { throwIfNoEntry: false }) ? "forged" : "missing";
  try {
    const { signature, ...value } = JSON.parse(readFileSync(fd, "utf8")) as KeeperRequest & { signature?: unknown };
    return isSignedBy(sessionKey, name, value, signature) ? value : "forged";
  } catch {
    return "forged";
  } finally {
    closeSync(fd);
  }
}

export const answerName = (askId: string): string => `answer-${pathName(askId)}`;

/** `turnName` is padded, so that requests sort by turn number. */
export const turnName = (turn: number): string => `turn-${String(turn).padStart(6, "0")}`;

export const readTurns = (names: readonly string[]): number[] =>
  names.filter((name) => name.startsWith("turn-")).map((name) => Number(name.slice("turn-".length)));

/** `sentTurns` are those that a keeper sent to the agent, by its journal. */
export function sentTurns(folder: string): Set<number> {
  const lines = readFileSync(paths(folder).journal, "utf8").split("\n");
  const entries = lines.flatMap((line) => parseLine<JournalEntry>(line) ?? []);
  return new Set(entries.flatMap((entry) => (entry.type === "sent" ? [entry.turn] : [])));
}

export const interruptName = (turn: number): string => `interrupt-${String(turn).padStart(6, "0")}`;

export const hasRequest = (folder: string, name: string): boolean =>
  isThere(join(paths(folder).requests, `${name}.json`));

export function readRequest(folder: string, name: string): KeeperRequest | null {
  const whole = readWhole(join(paths(folder).requests, `${name}.json`));
  return whole && (JSON.parse(whole.toString("utf8")) as KeeperRequest);
}

/** The names have no `.json`. */
export function listRequests(folder: string): string[] {
  return readdirSync(paths(folder).requests)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .toSorted();
}

export const readKeeper = (folder: string): ProcessIdentity | null => readJson<ProcessIdentity>(paths(folder).keeper);
export const readEnd = (folder: string): SessionEnd | null => readJson<SessionEnd>(paths(folder).end);

/** `endUnstarted` holds `keeper.json` meanwhile, so that a late keeper exits. False if one exists. */
export function endUnstarted(folder: string, self: ProcessIdentity | null): boolean {
  makeSessionFolder(folder);
  const at = paths(folder);
  if (!writeJsonOnce(at.keeper, self)) return false;
  if (readEnd(folder) === null) writeJson(at.end, { reason: "stopped" } satisfies SessionEnd);
  removeFile(at.keeper);
  return true;
}
