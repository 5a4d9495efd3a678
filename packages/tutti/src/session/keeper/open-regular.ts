import { closeSync, constants, fstatSync, openSync } from "node:fs";

/**
 * Opens a file of a session folder in which an agent may have put anything: null if there is none, or a link or a pipe in
 * its place. `O_NONBLOCK` keeps a pipe from blocking the caller.
 */
export function openRegular(path: string, flags: number): number | null {
  let fd: number;
  try {
    fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENXIO", "EISDIR"].includes((error as NodeJS.ErrnoException).code!)) return null;
    throw error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}
