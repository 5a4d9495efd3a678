// Tokens with a name and a role of their own, for people and programs that should not have the server's: one small file
// for each, in a folder of the data folder.
//
// Invariants
// 1. Only digests are kept. A secret is 256 random bits, which nobody finds by trying, however fast a digest is made; slow
//    ones protect words that people think of.
// 2. A token begins with the link that gives its whole file a name, and ends when that is gone. So of two who write at the
//    same time neither undoes what the other has done, and there is no lock to wait for.
// 3. Nothing is remembered: every question reads the file again, so what was made or revoked by another process counts
//    from the next request on.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Holder } from "./holder.ts";
import { cookieOf, digestOf, isSame } from "./token-digest.ts";
import { asDiskError, makeFolderDurably, syncFolder } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";
import { TokenName, TokenRole } from "../schema/token-role.ts";
import { writeWholeFile } from "../template/write-file.ts";

const OWNER_ONLY = 0o600;
const SECRET_BYTES = 32;
const DAY_MS = 24 * 60 * 60 * 1000;

const Digest = z.string().regex(/^[0-9a-f]{64}$/);
const TokenFile = z.strictObject({
  role: TokenRole,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  /** Of the whole token, and of the cookie that is made from it. */
  token: Digest,
  cookie: Digest,
});
type TokenFile = z.infer<typeof TokenFile>;

export interface NamedToken extends Pick<TokenFile, "role" | "createdAt" | "expiresAt"> {
  name: string;
  expired: boolean;
}

export interface NewToken {
  name: string;
  role: TokenRole;
  expiresInDays?: number | undefined;
}

/** The beginning is the same in all of them, so that they can be masked wherever they turn up: session/secret-shapes.ts. */
const TOKEN = /^tutti_([a-z0-9-]+)_[A-Za-z0-9_-]{43}$/;
const COOKIE = /^([a-z0-9-]+)\.([A-Za-z0-9_-]{43})$/;

export class NamedTokens {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "tokens");
  }

  /** The only moment in which the token itself can be had. */
  create({ name, role, expiresInDays }: NewToken, now = Date.now()): NamedToken & { token: string } {
    const file = this.#fileOf(checked(name));
    const token = `tutti_${name}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
    const content: TokenFile = {
      role,
      createdAt: new Date(now).toISOString(),
      expiresAt: expiresInDays === undefined ? null : new Date(now + expiresInDays * DAY_MS).toISOString(),
      token: digestOf(token).toString("hex"),
      cookie: digestOf(cookieOf(token)).toString("hex"),
    };
    try {
      makeFolderDurably(this.#folder, 0o700);
    } catch (error) {
      throw asDiskError(error, `${this.#folder} cannot be made`);
    }
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if (!writeWholeFile(file, text, { mode: OWNER_ONLY, isNew: true })) {
      throw new TuttiError("token_exists", `there is a token ${name} already; revoke it first`);
    }
    return { ...rowOf(name, content, now), token };
  }

  revoke(name: string): void {
    const none = new TuttiError("token_not_found", `there is no token ${name}`);
    if (!TokenName.safeParse(name).success) throw none;
    try {
      rmSync(this.#fileOf(name));
      syncFolder(this.#folder);
    } catch (error) {
      throw isAbsent(error) ? none : asDiskError(error, `the token ${name} cannot be revoked`);
    }
  }

  /** By name. A file that cannot be read opens nothing, and is named rather than passed over. */
  list(now = Date.now()): NamedToken[] {
    return this.#names().flatMap((name) => {
      try {
        return [rowOf(name, this.#read(name), now)];
      } catch (error) {
        // Revoked in this moment.
        if (isAbsent(error)) return [];
        const message = `${this.#fileOf(name)} cannot be read; revoke the token ${name}`;
        throw new TuttiError("storage_failed", message, { cause: error });
      }
    });
  }

  /** Whose token this is; null if it is none, or has expired. */
  find(token: string, now = Date.now()): Holder | null {
    const [, name] = TOKEN.exec(token) ?? [];
    return this.#holder(name, (file) => isSame(digestOf(token), Buffer.from(file.token, "hex")), now);
  }

  /** The same by the cookie that the token was exchanged for. */
  findByCookie(cookie: string, now = Date.now()): Holder | null {
    const [, name, secret = ""] = COOKIE.exec(cookie) ?? [];
    return this.#holder(name, (file) => isSame(digestOf(secret), Buffer.from(file.cookie, "hex")), now);
  }

  /** Whether a token that was found before still counts. */
  isHeld({ name, id }: Holder, now = Date.now()): boolean {
    return this.#holder(name ?? undefined, (file) => file.token === id, now) !== null;
  }

  /** What a browser is given for a token of ours. */
  cookieFor(token: string): string {
    return `${TOKEN.exec(token)![1]}.${cookieOf(token)}`;
  }

  #holder(name: string | undefined, isIt: (file: TokenFile) => boolean, now: number): Holder | null {
    if (!TokenName.safeParse(name).success) return null;
    try {
      const file = this.#read(name!);
      return isIt(file) && !hasExpired(file, now) ? { name: name!, role: file.role, id: file.token } : null;
    } catch {
      // What cannot be read opens nothing.
      return null;
    }
  }

  #read(name: string): TokenFile {
    return TokenFile.parse(JSON.parse(readFileSync(this.#fileOf(name), "utf8")));
  }

  #names(): string[] {
    try {
      const files = readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
      const names = files.map((file) => file.slice(0, -".json".length));
      return names.filter((name) => TokenName.safeParse(name).success).toSorted();
    } catch (error) {
      if (isAbsent(error)) return [];
      throw asDiskError(error, `${this.#folder} cannot be read`);
    }
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

function checked(name: string): string {
  const parsed = TokenName.safeParse(name);
  if (parsed.success) return name;
  throw new TuttiError("invalid_input", `a token's name is ${parsed.error.issues[0]!.message}; not ${name}`);
}

const rowOf = (name: string, file: TokenFile, now: number): NamedToken => {
  const { role, createdAt, expiresAt } = file;
  return { name, role, createdAt, expiresAt, expired: hasExpired(file, now) };
};

const hasExpired = ({ expiresAt }: TokenFile, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now;

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";
