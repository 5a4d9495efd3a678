// Runs a program under strace and extracts the file operations of its process tree below one folder.
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Operation } from "./operation.ts";
import { finished, type Finished } from "../lab/lab.ts";

const CALLS = [
  "open,openat,creat,chdir,fchdir",
  "write,writev,pwrite64,pwritev,pwritev2,copy_file_range,sendfile",
  "truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,sync,syncfs",
  "rename,renameat,renameat2,link,linkat,symlink,symlinkat",
  "unlink,unlinkat,rmdir,mkdir,mkdirat,bind",
];
/** strace must not truncate any line. */
const LONGEST = String(64 * 1024 * 1024);
const UMASK = 0o022;

export interface Recording extends Finished {
  operations: Operation[];
}

export async function record(command: string[], folder: string, cwd: string): Promise<Recording> {
  const file = join(tmpdir(), `tutti-strace-${process.pid}-${recordings++}.txt`);
  const options = ["-f", "-y", "-xx", "-qq", "--seccomp-bpf", "-s", LONGEST, "-o", file, "-e", "signal=none"];
  try {
    const args = [...options, "-e", `trace=${CALLS.join(",")}`, ...command];
    const end = await finished(spawn("strace", args, { cwd, stdio: ["ignore", "pipe", "pipe"] }));
    return { ...end, operations: readRecord(readFileSync(file, "latin1"), folder, cwd) };
  } finally {
    rmSync(file, { force: true });
  }
}

let recordings = 0;

interface Call {
  pid: string;
  name: string;
  args: string[];
  result: number;
}

function readRecord(text: string, folder: string, cwd: string): Operation[] {
  const begun = new Map<string, string>();
  const cwds = new Map<string, string>();
  const operations: Operation[] = [];
  const inside = (path: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const first = /^\d+/.exec(text)?.[0];
  for (const line of text.split("\n")) {
    const [, pid, rest] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    if (pid === undefined || rest === undefined) continue;
    // The reader knows `said` from the start of the call. All other calls take effect when they end.
    if (pid === first && rest.startsWith("write(1<")) operations.push({ type: "said", text: outputOf(rest) });
    const [unfinished] = / <unfinished \.\.\.>$/.exec(rest) ?? [];
    if (unfinished !== undefined) {
      begun.set(pid, rest.slice(0, -unfinished.length));
      continue;
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(rest) ?? [];
    const whole = resumed === undefined ? rest : (begun.get(pid) ?? "") + rest.slice(resumed.length);
    const call = readCall(pid, whole);
    if (call === null || call.result < 0) continue;
    for (const operation of meaning(call, cwds, cwd, inside)) {
      const paths = "to" in operation ? [operation.path, operation.to] : "path" in operation ? [operation.path] : [];
      if (paths.every(inside)) operations.push(operation);
      else if (paths.some(inside)) throw new Error(`a file was moved into or out of the folder: ${paths.join(", ")}`);
    }
  }
  return operations;
}

/** All strings in the record are hexadecimal, so they contain none of strace's own delimiters. */
function readCall(pid: string, line: string): Call | null {
  const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/s.exec(line) ?? [];
  if (name === undefined || args === undefined || result === undefined) return null;
  return { pid, name, args: args.split(", "), result: Number(result) };
}

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex");
const quoted = (arg = ""): Buffer => unhex(/"([^"]*)"/.exec(arg)?.[1] ?? "");
const outputOf = (line: string): string => quoted(line).toString("utf8");
/** Returns null if the descriptor is not a file or the file has been deleted. */
function pathOf(arg = ""): string | null {
  const [, hex = "", deleted] = /<([^>]*)>(\(deleted\))?/.exec(arg) ?? [];
  const path = unhex(hex).toString("utf8");
  return path.startsWith("/") && deleted === undefined && !path.endsWith(" (deleted)") ? path : null;
}

function meaning(call: Call, cwds: Map<string, string>, first: string, inside: (path: string) => boolean): Operation[] {
  const { name, args, pid, result } = call;
  const below = (folder: string | null, arg: string | undefined): string =>
    resolve(folder ?? cwds.get(pid) ?? first, quoted(arg).toString("utf8"));
  /** An `AT_FDCWD` descriptor also reveals the process's working folder. */
  const at = (dir: string | undefined, arg: string | undefined): string => {
    const folder = pathOf(dir);
    if (dir?.startsWith("AT_FDCWD") && folder !== null) cwds.set(pid, folder);
    return below(folder, arg);
  };
  const opened = (path: string, flags: string, mode: string): Operation[] => [
    ...(/O_CREAT/.test(flags) ? [{ type: "makeFile", path, mode: octal(mode) } as const] : []),
    ...(/O_TRUNC/.test(flags) ? [{ type: "truncate", path, length: 0 } as const] : []),
  ];
  const file = pathOf(args[0]);
  switch (name) {
    case "chdir":
      cwds.set(pid, below(null, args[0]));
      return [];
    case "open":
      return opened(below(null, args[0]), args[1] ?? "", args[2] ?? "");
    case "creat":
      return opened(below(null, args[0]), "O_CREAT|O_TRUNC", args[1] ?? "");
    case "openat":
      return opened(at(args[0], args[1]), args[2] ?? "", args[3] ?? "");
    case "mkdir":
      return [{ type: "makeFolder", path: below(null, args[0]) }];
    case "mkdirat":
      return [{ type: "makeFolder", path: at(args[0], args[1]) }];
    case "bind": {
      // A socket in a folder is an empty file here. Other sockets have no `sun_path`.
      const path = args.find((arg) => arg.startsWith("sun_path="));
      return path === undefined ? [] : [{ type: "makeFile", path: below(null, path), mode: 0o600 }];
    }
    case "symlink":
      return [{ type: "makeLink", path: below(null, args[1]), target: quoted(args[0]).toString("utf8") }];
    case "symlinkat":
      return [{ type: "makeLink", path: at(args[1], args[2]), target: quoted(args[0]).toString("utf8") }];
    case "rename":
      return [{ type: "rename", path: below(null, args[0]), to: below(null, args[1]) }];
    case "renameat":
    case "renameat2":
      return [{ type: "rename", path: at(args[0], args[1]), to: at(args[2], args[3]) }];
    case "link":
      return [{ type: "link", path: below(null, args[0]), to: below(null, args[1]) }];
    case "linkat":
      return [{ type: "link", path: at(args[0], args[1]), to: at(args[2], args[3]) }];
    case "unlink":
    case "rmdir":
      return [{ type: "remove", path: below(null, args[0]) }];
    case "unlinkat":
      return [{ type: "remove", path: at(args[0], args[1]) }];
    case "truncate":
      return [{ type: "truncate", path: below(null, args[0]), length: Number(args[1]) }];
  }
  // All other calls use a descriptor. `pathOf` is null for pipes, sockets and deleted files.
  const target = name === "copy_file_range" ? pathOf(args[2]) : file;
  if (target === null || !inside(target)) return [];
  switch (name) {
    case "write":
      return [{ type: "write", path: target, at: null, bytes: quoted(args[1]).subarray(0, result) }];
    case "pwrite64":
      return [{ type: "write", path: target, at: Number(args[3]), bytes: quoted(args[1]).subarray(0, result) }];
    case "writev":
    case "pwritev": {
      const parts = args.filter((arg) => arg.includes("iov_base=")).map(quoted);
      const place = name === "writev" ? null : Number(args.at(-1));
      return [{ type: "write", path: target, at: place, bytes: Buffer.concat(parts).subarray(0, result) }];
    }
    case "copy_file_range": {
      const start = Number(/\d+/.exec(args[1] ?? "")?.[0] ?? 0);
      return [{ type: "copy", from: file ?? "", start, path: target, length: result }];
    }
    case "ftruncate":
      return [{ type: "truncate", path: target, length: Number(args[1]) }];
    case "fsync":
    case "fdatasync":
      return [{ type: "sync", path: target }];
    // Starts the write but guarantees nothing.
    case "sync_file_range":
      return [];
    default:
      throw new Error(`the record contains an unsupported call: ${name}`);
  }
}

const octal = (text: string): number => (text === "" ? 0o644 : Number.parseInt(text, 8)) & ~UMASK;
