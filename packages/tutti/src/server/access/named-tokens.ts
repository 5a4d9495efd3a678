// `NamedTokens` have a role each, for users and programs that should not have the server's token. Each is a small file
// in the folder `tokens` of the data folder.
//
// Invariants
// 1. Files hold only digests. A fast digest is enough, because a token has 256 random bits and cannot be guessed; slow
//    digests protect passwords that people choose.
// 2. A token exists exactly as long as its file, which appears complete under its name. So concurrent writers need no
//    lock and cannot undo each other's work.
// 3. Nothing is cached: every call reads the file, so a token that another process creates or revokes counts from the
//    next request on.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Holder } from "./holder.ts";
import { cookieOf, digestOf, isSame } from "./token-digest.ts";
import { asDiskError, makeFolderDurably, syncFolder } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { TokenName, TokenRoleName } from "../../schema/api/token-routes.ts";
import type { TokenRole } from "../../schema/token-role.ts";
import { writeWholeFile } from "../../template/files/write-file.ts";

const OWNER_ONLY = 0o600;
const SECRET_BYTES = 32;
const DAY_MS = 24 * 60 * 60 * 1000;

const Digest = z.string().regex(/^[0-9a-f]{64}$/);
const TokenFile = z.strictObject({
  role: TokenRoleName,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  /** Results of `digestOf` for the token and for the cookie derived from it. */
  token: Digest,
  cookie: Digest,
});
type TokenFile = z.infer<typeof TokenFile>;

interface NamedToken extends Pick<TokenFile, "role" | "createdAt" | "expiresAt"> {
  name: string;
  expired: boolean;
}

interface NewToken {
  name: string;
  role: TokenRole;
  expiresInDays?: number | undefined;
}

/** All tokens share a prefix, by which session/secrets/secret-shapes.ts finds and masks them. */
const TOKEN = /^tutti_([a-z0-9-]+)_[A-Za-z0-9_-]{43}$/;
const COOKIE = /^([a-z0-9-]+)\.([A-Za-z0-9_-]{43})$/;

export class NamedTokens {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "tokens");
  }

  /** Returns the token itself, which `NamedTokens` cannot read again later. */
  create({ name, role, expiresInDays }: NewToken, now = Date.now()): NamedToken & { token: string } {
    const file = this.#fileOf(checkName(name));
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
      throw asDiskError(error, `Cannot create the folder ${this.#folder}`);
    }
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if (!writeWholeFile(file, text, { mode: OWNER_ONLY, isNew: true })) {
      throw new TuttiError("token_exists", `Token "${name}" already exists. Revoke it first or choose another name.`);
    }
    return { ...rowOf(name, content, now), token };
  }

  revoke(name: string): void {
    const notFound = new TuttiError(
      "token_not_found",
      `Token "${name}" does not exist. List tokens with "tutti tokens list".`,
    );
    if (!TokenName.safeParse(name).success) throw notFound;
    try {
      rmSync(this.#fileOf(name));
      syncFolder(this.#folder);
    } catch (error) {
      throw isAbsent(error) ? notFound : asDiskError(error, `Cannot revoke token "${name}"`);
    }
  }

  /** Sorted by name. An unreadable file grants no access, but `list` throws instead of hiding it. */
  list(now = Date.now()): NamedToken[] {
    return this.#names().flatMap((name) => {
      try {
        return [rowOf(name, this.#read(name), now)];
      } catch (error) {
        // The token was revoked after `#names` listed it.
        if (isAbsent(error)) return [];
        const message = `The token file ${this.#fileOf(name)} cannot be read. Revoke the token with "tutti tokens revoke ${name}".`;
        throw new TuttiError("storage_failed", message, { cause: error });
      }
    });
  }

  find(token: string, now = Date.now()): Holder | null {
    const [, name] = TOKEN.exec(token) ?? [];
    return this.#holder(name, (file) => isSame(digestOf(token), Buffer.from(file.token, "hex")), now);
  }

  /** Unlike `find`, gets the cookie that `cookieFor` returned for the token. */
  findByCookie(cookie: string, now = Date.now()): Holder | null {
    const [, name, secret = ""] = COOKIE.exec(cookie) ?? [];
    return this.#holder(name, (file) => isSame(digestOf(secret), Buffer.from(file.cookie, "hex")), now);
  }

  /** `isHeld` is false once the token of a known holder is revoked or expired. */
  isHeld({ name, id }: Holder, now = Date.now()): boolean {
    return this.#holder(name ?? undefined, (file) => file.token === id, now) !== null;
  }

  /** `cookieFor` is only for named tokens. */
  cookieFor(token: string): string {
    return `${TOKEN.exec(token)![1]}.${cookieOf(token)}`;
  }

  #holder(name: string | undefined, matches: (file: TokenFile) => boolean, now: number): Holder | null {
    if (!TokenName.safeParse(name).success) return null;
    try {
      const file = this.#read(name!);
      return matches(file) && !hasExpired(file, now) ? { name: name!, role: file.role, id: file.token } : null;
    } catch {
      // Fail closed: a file that cannot be read grants no access.
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
      throw asDiskError(error, `Cannot read the folder ${this.#folder}`);
    }
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

function checkName(name: string): string {
  const parsed = TokenName.safeParse(name);
  if (parsed.success) return name;
  throw new TuttiError("invalid_input", `The token name "${name}" is invalid. Use ${parsed.error.issues[0]!.message}.`);
}

const rowOf = (name: string, file: TokenFile, now: number): NamedToken => {
  const { role, createdAt, expiresAt } = file;
  return { name, role, createdAt, expiresAt, expired: hasExpired(file, now) };
};

const hasExpired = ({ expiresAt }: TokenFile, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now;

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";
