// Signs the requests to a keeper. An agent can write files into its own session folder, so a keeper carries out only
// requests with a valid signature. See docs/decisions/0024-signed-requests.md.
//
// 1. The data folder has one random key. Each session has a key of its own, derived from it, so that a keeper's memory
//    holds no key of another session.
// 2. The host derives the key again after a restart. The keeper receives it over a pipe and has no other copy.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, readFileSync } from "node:fs";
import { removeFile, syncFolder, writeDurably } from "../../durable-file.ts";
import { dirname } from "node:path";

const KEY_BYTES = 32;
const HEX_KEY = new RegExp(`^[0-9a-f]{${2 * KEY_BYTES}}$`);

export function openRequestKey(file: string): string {
  return readKey(file) ?? createKey(file);
}

function readKey(file: string): string | null {
  try {
    const text = readFileSync(file, "utf8").trim();
    return HEX_KEY.test(text) ? text : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Two hosts may run `createKey` at the same time: the one that links first wins, and both use its key. */
function createKey(file: string): string {
  const beside = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.new`;
  writeDurably(beside, randomBytes(KEY_BYTES).toString("hex"), 0o600);
  try {
    linkSync(beside, file);
    syncFolder(dirname(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    removeFile(beside);
  }
  const key = readKey(file);
  if (key !== null) return key;
  // The file is damaged, so no keeper has its key: replace it.
  removeFile(file);
  return createKey(file);
}

export const sessionKeyOf = (key: string, sessionId: string): string =>
  createHmac("sha256", key).update(`session ${sessionId}`).digest("hex");

/** `name` is part of the signature, so that the content of one request is not valid under another name. */
export const signRequest = (sessionKey: string, name: string, request: object): string =>
  createHmac("sha256", sessionKey)
    .update(`${name}\n${JSON.stringify(request)}`)
    .digest("hex");

export function isSignedBy(sessionKey: string, name: string, request: object, signature: unknown): boolean {
  if (typeof signature !== "string") return false;
  const [expected, actual] = [Buffer.from(signRequest(sessionKey, name, request)), Buffer.from(signature)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
