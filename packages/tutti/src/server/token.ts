// The secret that opens the server: given by the person, or made at the first start and kept in the data folder.
import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolderDurably, syncFolder, writeDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

const OWNER_ONLY = 0o600;
const TOKEN_BYTES = 32;

/** The explicit token, else the one in the data folder, which is made if there is none. */
export function loadToken(dataDir: string, explicit?: string): string {
  if (explicit !== undefined) return checked(explicit);
  const file = join(dataDir, "token");
  try {
    makeFolderDurably(dataDir, 0o700);
    return readToken(file) ?? makeToken(file);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    const message = `the token in ${file} cannot be had: ${(error as Error).message}`;
    throw new TuttiError("storage_failed", message, { cause: error });
  }
}

function checked(token: string): string {
  // What cannot stand in a header could never be sent, so nobody would get in.
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new TuttiError("usage", "a token consists of visible ASCII characters, without spaces");
}

function readToken(file: string): string | null {
  try {
    const token = readFileSync(file, "utf8").trim();
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, OWNER_ONLY);
    return checked(token);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    if (error instanceof TuttiError) throw new TuttiError("storage_failed", `${file} holds no token; remove it`);
    throw error;
  }
}

/** Written whole beside its place and linked into it, so that of two starts at once both use the first one's token. */
function makeToken(file: string): string {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const beside = `${file}.${process.pid}.new`;
  rmSync(beside, { force: true });
  writeDurably(beside, `${token}\n`, OWNER_ONLY);
  try {
    linkSync(beside, file);
    syncFolder(dirname(file));
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readToken(file)!;
  } finally {
    rmSync(beside, { force: true });
  }
}
