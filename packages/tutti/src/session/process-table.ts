// Facts about other processes: from `/proc` on Linux, and from `ps` on every other system.
//
// `ps` knows less. Start times are in seconds, and limits of processes are unknown. macOS hides the environment of its
// own programs, such as `/bin/sh`. So `psTable` also counts the process groups and the children of marked processes.
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { basename } from "node:path";
import { hasProc } from "../durable-file.ts";

interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** The name of the program without its folder. */
  name: string;
  /** One letter, such as R for a runnable process. */
  state: string;
  /** A `startTime` is comparable only with those of the same table. */
  startTime: string;
  /** User plus system time. */
  cpuMs: number;
}

interface ProcessTable {
  /** Leaves out processes that have ended and zombies. */
  read(pids: readonly number[]): ProcessEntry[];
  /** Returns all other live processes with `name=value` in their environment, or with this soft limit for file locks. */
  findMarked(name: string, value: string, lockLimit?: string): number[];
  isSameStart(a: string, b: string): boolean;
}

export const processTable = (): ProcessTable => (hasProc() ? procTable : psTable);

/** `TICK_MS` is the unit of processor time in `/proc/PID/stat`. */
const TICK_MS = 10;

const procTable: ProcessTable = {
  read: (pids) => pids.flatMap((pid) => readStat(pid) ?? []),

  findMarked(name, value, lockLimit) {
    const mark = Buffer.from(`${name}=${value}\0`);
    return findOthers((pid) => {
      if (lockLimit !== undefined && hasLimit(pid, lockLimit)) return true;
      const environment = readProc(pid, "environ");
      const at = environment.indexOf(mark);
      return at === 0 || (at > 0 && environment[at - 1] === 0);
    });
  },

  isSameStart: (a, b) => a === b,
};

const LOCKS_LIMIT = Buffer.from("Max file locks ");

function hasLimit(pid: number, lockLimit: string): boolean {
  const limits = readProc(pid, "limits");
  const line = limits.indexOf(LOCKS_LIMIT);
  return line !== -1 && limits.toString("latin1", line, line + LIMIT_CHARACTERS).split(/ +/, 4)[3] === lockLimit;
}

/** More than the name, the padding and the soft limit of a line in `limits`. */
const LIMIT_CHARACTERS = 80;
let procBytes = Buffer.allocUnsafe(2 ** 16);

/**
 * Reads into a buffer that the next call overwrites. `readFileSync` would allocate 64 KB for each, and a
 * look at a few hundred processes would start a garbage collection.
 */
function readProc(pid: number, name: "environ" | "limits" | "stat"): Buffer {
  const file = openSync(`/proc/${pid}/${name}`, "r");
  try {
    for (let length = 0; ;) {
      const read = readSync(file, procBytes, length, procBytes.length - length, null);
      length += read;
      // These files are read as a whole if the buffer has room for them.
      if (length < procBytes.length) return procBytes.subarray(0, length);
      procBytes = Buffer.concat([procBytes], 2 * length);
    }
  } finally {
    closeSync(file);
  }
}

/** Threads of the kernel, on many machines half of all processes, inherit nothing from a session. */
const KERNEL_THREAD = 0x00_20_00_00;
const FIRST_KERNEL_THREAD = 2;
let hasKernelThreads: boolean | null = null;

/** Empty in a container, where process 2 is an ordinary one. */
function kernelThreads(): Set<string> {
  try {
    hasKernelThreads ??= (Number(splitStat(FIRST_KERNEL_THREAD).fields[6]) & KERNEL_THREAD) !== 0;
    if (!hasKernelThreads) return new Set();
    const path = `/proc/${FIRST_KERNEL_THREAD}/task/${FIRST_KERNEL_THREAD}/children`;
    return new Set(readFileSync(path, "latin1").split(" "));
  } catch {
    return new Set();
  }
}

function findOthers(test: (pid: number) => boolean): number[] {
  const ignored = kernelThreads();
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && !ignored.has(entry))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && test(pid) && readStat(pid) !== null;
      } catch {
        // The process has ended, or belongs to another user.
        return false;
      }
    });
}

/** The name is in parentheses and may contain any character, so the fields count from its end. */
function splitStat(pid: number): { name: string; fields: string[] } {
  const stat = readProc(pid, "stat").toString("latin1");
  const [from, to] = [stat.indexOf("("), stat.lastIndexOf(")")];
  return { name: stat.slice(from + 1, to), fields: stat.slice(to + 2).split(" ") };
}

function readStat(pid: number): ProcessEntry | null {
  try {
    const { name, fields } = splitStat(pid);
    const [state = "", parent, group] = fields;
    if (isGone(state)) return null;
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      name,
      state,
      startTime: fields[19]!,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    };
  } catch {
    return null;
  }
}

/** True for a zombie or a process that is just ending. */
const isGone = (state: string): boolean => state === "Z" || state === "X";

const COLUMNS = ["pid", "ppid", "pgid", "stat", "lstart", "time", "comm"].flatMap((name) => ["-o", `${name}=`]);
const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(\S+ +\S+ +\d+ [\d:]+ \d+)\s+(\S+)\s+(.*)$/;
const MAX_BYTES = 256e6;
/**
 * `ps` of Linux adds the time since the start of the machine to a rounded date, so it may differ by
 * `START_TOLERANCE_S`.
 */
const START_TOLERANCE_S = 1;

const psTable: ProcessTable = {
  read: (pids) => (pids.length === 0 ? [] : list("-p", pids.join(","))),

  /** Limits of processes are unknown. */
  findMarked(name, value) {
    // A command line with the same text counts, too: `ps` prints it before the environment.
    const mark = new RegExp(`\\s${escapeRegExp(`${name}=${value}`)}(\\s|$)`);
    const environments = process.platform === "linux" ? ["axeww"] : ["-axEww"];
    const marked = new Set<number>();
    for (const line of runPs(...environments, "-o", "pid=", "-o", "args=").split("\n"))
      if (mark.test(line)) marked.add(Number.parseInt(line, 10));
    marked.delete(process.pid);
    return withRelatives(marked, list("-A"));
  },

  isSameStart: (a, b) => Math.abs(Number(a) - Number(b)) <= START_TOLERANCE_S,
};

/** Adds the groups that marked processes lead or have led, and the children of all of them. */
function withRelatives(marked: ReadonlySet<number>, all: readonly ProcessEntry[]): number[] {
  const others = all.filter(({ pid }) => pid !== process.pid);
  const found = new Set(others.map(({ pid }) => pid).filter((pid) => marked.has(pid)));
  const live = new Set(all.map(({ pid }) => pid));
  const ownGroup = all.find(({ pid }) => pid === process.pid)?.group;
  for (let before = -1; before < found.size;) {
    before = found.size;
    const groups = new Set(others.filter(({ pid }) => found.has(pid)).map(({ group }) => group));
    for (const { pid, parent, group } of others) {
      // A group with a leader that is not marked is that of a shell or of Tutti.
      const isInGroup = groups.has(group) && group !== ownGroup && (found.has(group) || !live.has(group));
      if (isInGroup || found.has(parent)) found.add(pid);
    }
  }
  return [...found];
}

function list(...selection: string[]): ProcessEntry[] {
  return runPs(...selection, ...COLUMNS)
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, group, state, start, time, command] = ROW.exec(line) ?? [];
      if (pid === undefined || isGone(state!)) return [];
      return {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        // macOS prints the whole path.
        name: basename(command!.trim()),
        state: state!,
        startTime: String(Date.parse(`${start} UTC`) / 1000),
        cpuMs: readTime(time!),
      };
    });
}

/** Reads `DD-HH:MM:SS` of Linux and `MM:SS.hh` of macOS. */
function readTime(text: string): number {
  const [clock = "", days = "0"] = text.split("-").toReversed();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

function runPs(...args: string[]): string {
  try {
    // One time zone and one language, because another process may compare the times later.
    const env = { PATH: process.env["PATH"] ?? "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC0" };
    return execFileSync("ps", args, {
      env,
      encoding: "latin1",
      maxBuffer: MAX_BYTES,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    // The exit code is 1 if no process matches. If `ps` itself is missing, no process may be taken for dead.
    if ((error as { status?: unknown }).status === 1) return "";
    throw error;
  }
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
