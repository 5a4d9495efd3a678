import { isatty } from "node:tty";

const STDIN_FD = 0;
const ignore = (): void => {};

/** Unlike `process.stdin.isTTY`, opens nothing: most commands read no input. */
export const isStdinTerminal = (): boolean => isatty(STDIN_FD);

/** Reads from a closed terminal fail, too. The failing write is enough to react to it (`endOnBrokenPipe`). */
export function openStdin(): NodeJS.ReadStream {
  return process.stdin.off("error", ignore).on("error", ignore);
}
