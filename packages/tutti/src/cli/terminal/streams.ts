// `writeTo` prints to stdout and stderr. The stream of a pipe loads Node's streams and `net`, which takes a tenth of the
// time of `tutti list`, so a command that only prints writes its first bytes to the file descriptor.
//
// Invariants
// 1. No write waits for a reader: an empty pipe takes `DIRECT_BYTES` at once, and the stream buffers everything after them.
// 2. A write whose reader is gone ends the command in order (`onWriteError`), directly or through the stream.
import { fstatSync, writeSync } from "node:fs";
import { interruptWorks } from "./interrupt.ts";

export type StreamName = "stdout" | "stderr";

const NAMES = ["stdout", "stderr"] as const;
const DESCRIPTORS = { stdout: 1, stderr: 2 };

/** POSIX guarantees this size for a write that a pipe does not divide (`PIPE_BUF` on Linux). */
const DIRECT_BYTES = 4096;

/** The exit code with which a shell reports a program that SIGPIPE ended. */
const BROKEN_PIPE = 141;

/** All commands of a process share `pipeState`: the listeners are added once and stay after a command ends. */
const pipeState = { isListening: { stdout: false, stderr: false }, isBroken: false };
/** The bytes that `writeTo` may still write directly. */
const directBytes = { stdout: 0, stderr: 0 };

/**
 * Ends the command in order when its output is no longer read, as in `| head`. With `isDirect`, a stream is opened when
 * `writeTo` or `streamOf` needs it. The returned function adjusts the exit code: a command that the broken pipe
 * interrupted exits with `BROKEN_PIPE`, a finished one keeps its code.
 */
export function endOnBrokenPipe(isDirect: boolean): (code: number) => number {
  pipeState.isBroken = false;
  for (const name of NAMES) {
    directBytes[name] = isDirect && !mayBeTerminal(name) ? DIRECT_BYTES : 0;
    if (!isDirect) streamOf(name);
  }
  return (code) => (pipeState.isBroken && code === 130 ? BROKEN_PIPE : code);
}

/** The functions of `node:tty` would load `net`. */
function mayBeTerminal(name: StreamName): boolean {
  try {
    return fstatSync(DESCRIPTORS[name]).isCharacterDevice();
  } catch {
    return true;
  }
}

/** Returns `process.stdout` or `process.stderr`, with the listener for a broken pipe. */
export function streamOf(name: StreamName): NodeJS.WriteStream {
  const stream = process[name];
  if (!pipeState.isListening[name]) stream.on("error", onWriteError);
  pipeState.isListening[name] = true;
  return stream;
}

export const isTerminalStream = (name: StreamName): boolean => directBytes[name] === 0 && process[name].isTTY;

/** The width of a terminal. Unlimited for a file or a pipe, or if the terminal does not know it. */
export const columnsOf = (name: StreamName): number =>
  (isTerminalStream(name) && process[name].columns) || Number.POSITIVE_INFINITY;

export function writeTo(name: StreamName, text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0 && rest.length <= directBytes[name]) {
      const written = writeSync(DESCRIPTORS[name], rest);
      directBytes[name] -= written;
      rest = rest.subarray(written);
    }
  } catch (error) {
    // `EAGAIN`: another process made the pipe non-blocking, and it is full.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return onWriteError(error as NodeJS.ErrnoException);
  }
  if (rest.length === 0) return;
  directBytes[name] = 0;
  streamOf(name).write(rest);
}

function onWriteError(error: NodeJS.ErrnoException): void {
  // `EPIPE`: the pipe has no reader. `EIO`: the window of the terminal was closed.
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  // `interruptWorks` ends a command that follows something; others exit by themselves.
  if (!pipeState.isBroken) interruptWorks();
  pipeState.isBroken = true;
}
