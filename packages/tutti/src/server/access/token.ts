import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolderDurably, syncFolder, writeDurably } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";

const OWNER_ONLY = 0o600;
const TOKEN_BYTES = 32;

/** Returns `explicit`, or else the token in the data folder, which is created if it does not exist. */
export function loadToken(dataDir: string, explicit?: string): string {
  if (explicit !== undefined) return checkToken(explicit);
  const file = join(dataDir, "token");
  try {
    makeFolderDurably(dataDir, 0o700);
    return readToken(file) ?? makeToken(file);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    const message = `The token file ${file} cannot be read or written: ${(error as Error).message}. Check its permissions.`;
    throw new TuttiError("storage_failed", message, { cause: error });
  }
}

function checkToken(token: string): string {
  // Other characters cannot be sent in a header, so such a token would lock out every client.
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new TuttiError("usage", "The token is invalid. Use visible ASCII characters without spaces.");
}

function readToken(file: string): string | null {
  try {
    const token = readFileSync(file, "utf8").trim();
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, OWNER_ONLY);
    return checkToken(token);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    if (error instanceof TuttiError)
      throw new TuttiError(
        "storage_failed",
        `The file ${file} does not contain a valid token. Remove it to create a new one.`,
      );
    throw error;
  }
}

/** Links a complete `temporaryFile` to its name, so that two concurrent starts use the same token. */
function makeToken(file: string): string {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const temporaryFile = `${file}.${process.pid}.new`;
  rmSync(temporaryFile, { force: true });
  writeDurably(temporaryFile, `${token}\n`, OWNER_ONLY);
  try {
    linkSync(temporaryFile, file);
    syncFolder(dirname(file));
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readToken(file)!;
  } finally {
    rmSync(temporaryFile, { force: true });
  }
}
