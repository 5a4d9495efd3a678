// The files of Claude Code about its sessions, below the user's configuration folder:
//   projects/FOLDER/SESSION.jsonl                            the transcript of a session
//   projects/FOLDER/SESSION/subagents/agent-ID.jsonl         the transcript of a sub-agent
//   projects/FOLDER/SESSION/subagents/agent-ID.meta.json     the call that started it
//   sessions/PID.json                                        a process that has a session open
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { numberOf, parseRecord, textOf } from "../json-fields.ts";
import { identify } from "../process.ts";

/** A `subagentId` has the form `SESSION/ID`. */
const subagentId = (session: string, id: string): string => `${session}/${id}`;

export interface SubagentFile {
  id: string;
  parentSessionId: string;
  taskToolId: string | null;
}

const SAFE_NAME = /^[\w-]+$/;

export class SessionFiles {
  readonly #root: string;
  readonly #found = new Map<string, string>();

  constructor(configFolder: string) {
    this.#root = configFolder;
  }

  /** Path of the transcript of a session or sub-agent; null if it does not exist. */
  find(id: string): string | null {
    const known = this.#found.get(id);
    if (known !== undefined && existsSync(known)) return known;
    const [session = "", agent, ...more] = id.split("/");
    if (more.length > 0 || !SAFE_NAME.test(session) || (agent !== undefined && !SAFE_NAME.test(agent))) return null;
    const name = agent === undefined ? `${session}.jsonl` : join(session, "subagents", `agent-${agent}.jsonl`);
    const file = this.#projects().map((folder) => join(folder, name));
    const found = file.find((path) => existsSync(path)) ?? null;
    if (found !== null) this.#found.set(id, found);
    return found;
  }

  sessions(): { id: string; file: string }[] {
    return this.#projects().flatMap((folder) =>
      namesIn(folder)
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => ({ id: name.slice(0, -".jsonl".length), file: join(folder, name) })),
    );
  }

  /** `subagents` of a session, nested ones too. */
  subagents(session: string): SubagentFile[] {
    const transcript = session.includes("/") ? null : this.find(session);
    if (transcript === null) return [];
    const folder = join(transcript.slice(0, -".jsonl".length), "subagents");
    return namesIn(folder).flatMap((name) => {
      const [, id] = /^agent-([\w-]+)\.jsonl$/.exec(name) ?? [];
      if (id === undefined) return [];
      const meta = parseRecord(readText(join(folder, `agent-${id}.meta.json`)));
      const parent = textOf(meta["parentAgentId"]);
      const parentSessionId = parent === "" ? session : subagentId(session, parent);
      return [{ id: subagentId(session, id), parentSessionId, taskToolId: textOf(meta["toolUseId"]) || null }];
    });
  }

  /** Null if this version of the program does not record its processes. */
  isOpen(session: string): boolean | null {
    const folder = join(this.#root, "sessions");
    if (!existsSync(folder)) return null;
    return namesIn(folder).some((name) => {
      if (!/^\d+\.json$/.test(name)) return false;
      const { sessionId, pid, procStart } = parseRecord(readText(join(folder, name)));
      const found = sessionId === session ? identify(numberOf(pid) ?? 0) : null;
      // A process with the same id that started at another time than `procStart` is another one.
      return found !== null && (textOf(procStart) === "" || textOf(procStart) === found.startTime);
    });
  }

  #projects(): string[] {
    const root = join(this.#root, "projects");
    return namesIn(root).map((name) => join(root, name));
  }
}

const HEAD_BYTES = 64 * 1024;

/** Finds the folder that a session works in, in the first entries of its transcript. */
export function readFolder(transcript: string): string | null {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const file = openSync(transcript, "r");
    try {
      const lines = head
        .subarray(0, readSync(file, head, 0, HEAD_BYTES, 0))
        .toString("utf8")
        .split("\n");
      return lines.map((line) => textOf(parseRecord(line)["cwd"])).find((cwd) => cwd !== "") ?? null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
