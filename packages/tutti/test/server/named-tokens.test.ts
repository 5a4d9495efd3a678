import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NamedTokens } from "../../src/server/access/named-tokens.ts";
import { loadToken } from "../../src/server/access/token.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let data: string;
let tokens: NamedTokens;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "tutti-tokens-"));
  tokens = new NamedTokens(data);
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const fileOf = (name: string) => join(data, "tokens", `${name}.json`);
const modeOf = (file: string) => statSync(file).mode & 0o777;
const refused = (code: string) => expect.objectContaining({ code });

describe("a named token", () => {
  it("is its name and 256 random bits; only digests are stored, in a file that only the owner can read", () => {
    const { token, ...row } = tokens.create({ name: "ci", role: "operate" }, 0);
    const [, secret = ""] = /^tutti_ci_([\w-]{43})$/.exec(token) ?? [];
    expect(Buffer.from(secret, "base64url")).toHaveLength(32);
    expect(row).toEqual({
      name: "ci",
      role: "operate",
      createdAt: "1970-01-01T00:00:00.000Z",
      expiresAt: null,
      expired: false,
    });
    expect(tokens.list()).toEqual([row]);
    expect([modeOf(join(data, "tokens")), modeOf(fileOf("ci"))]).toEqual([0o700, 0o600]);
    const kept = readFileSync(fileOf("ci"), "utf8");
    const cookie = tokens.cookieFor(token).split(".")[1]!;
    for (const secretPart of [token, secret, cookie]) expect(kept).not.toContain(secretPart);
    expect(tokens.create({ name: "ci-2", role: "operate" }).token.slice(-43)).not.toBe(secret);
  });

  it("is found by its text and by its cookie only", () => {
    const { token } = tokens.create({ name: "ci", role: "view" });
    const cookie = tokens.cookieFor(token);
    const { token: other } = tokens.create({ name: "other", role: "admin" });
    const holder = { name: "ci", role: "view", id: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect([tokens.find(token), tokens.findByCookie(cookie)]).toEqual([holder, holder]);
    const digests = Object.values(JSON.parse(readFileSync(fileOf("ci"), "utf8")) as Record<string, string>);
    const wrong = [
      "",
      "ci",
      "tutti_ci_",
      `${token}x`,
      token.slice(0, -1),
      token.replace("tutti_ci", "tutti_other"),
      other.replace("tutti_other", "tutti_ci"),
      token.replace("ci", "../tokens/ci"),
      ...digests.flatMap((digest) => [digest, `tutti_ci_${digest}`, `ci.${digest}`]),
    ];
    for (const text of wrong) expect([text, tokens.find(text), tokens.findByCookie(text)]).toEqual([text, null, null]);
    expect([tokens.find(cookie), tokens.findByCookie(token)]).toEqual([null, null]);
    const mixed = tokens.cookieFor(other).replace("other.", "ci.");
    expect([tokens.findByCookie(mixed), tokens.findByCookie(cookie.replace("ci.", "other."))]).toEqual([null, null]);
  });

  it("is invalid after it expires, but stays in the list until it is revoked", () => {
    const { token, expiresAt } = tokens.create({ name: "guest", role: "view", expiresInDays: 2 }, 0);
    expect(expiresAt).toBe("1970-01-03T00:00:00.000Z");
    const cookie = tokens.cookieFor(token);
    const holder = tokens.find(token, 2 * DAY_MS - 1)!;
    const counts = (now: number) => [
      tokens.find(token, now) !== null,
      tokens.findByCookie(cookie, now) !== null,
      tokens.isHeld(holder, now),
      !tokens.list(now)[0]!.expired,
    ];
    expect(counts(2 * DAY_MS - 1)).toEqual([true, true, true, true]);
    expect(counts(2 * DAY_MS)).toEqual([false, false, false, false]);
  });

  it("stays revoked when a new token gets the same name", () => {
    const { token } = tokens.create({ name: "ci", role: "admin" });
    const holder = tokens.find(token)!;
    expect(() => tokens.create({ name: "ci", role: "view" })).toThrow(refused("token_exists"));
    expect(tokens.find(token)).toEqual(holder);
    tokens.revoke("ci");
    expect([tokens.find(token), tokens.isHeld(holder), tokens.list()]).toEqual([null, false, []]);
    tokens.create({ name: "ci", role: "admin" });
    expect([tokens.find(token), tokens.findByCookie(tokens.cookieFor(token)), tokens.isHeld(holder)]).toEqual([
      null,
      null,
      false,
    ]);
  });

  it.each(["", "CI", "a b", "a_b", "-a", "../token", "a/b", "a".repeat(41), "ä"])("cannot have the name %j", (name) => {
    loadToken(data);
    expect(() => tokens.create({ name, role: "view" })).toThrow(refused("invalid_input"));
    expect(() => tokens.revoke(name)).toThrow(refused("token_not_found"));
    expect(readdirSync(data)).toEqual(["token"]);
  });

  it("with a damaged file grants no access, is reported by name, and can be revoked", () => {
    const { token } = tokens.create({ name: "ci", role: "admin" });
    const whole = readFileSync(fileOf("ci"), "utf8");
    for (const damaged of ["", whole.slice(0, -5), whole.replace('"admin"', '"owner"'), "{}"]) {
      writeFileSync(fileOf("ci"), damaged);
      expect(tokens.find(token)).toBeNull();
      expect(() => tokens.list()).toThrow(/ci\.json cannot be read\. Revoke the token with "tutti tokens revoke ci"/);
    }
    tokens.revoke("ci");
    expect(tokens.list()).toEqual([]);
  });

  it("whose creation was interrupted by a kill does not exist and blocks no new one", () => {
    const { token } = tokens.create({ name: "ci", role: "admin" });
    writeFileSync(join(data, "tokens", ".cd.json.abcdefgh"), "half");
    writeFileSync(join(data, "tokens", "notes.txt"), "not ours");
    expect(tokens.list().map(({ name }) => name)).toEqual(["ci"]);
    expect(tokens.find(token)).not.toBeNull();
  });
});

describe("two processes that write at the same time", () => {
  it("lose no change of each other, and only one of them gets a given name", async () => {
    const module = new URL("../../src/server/access/named-tokens.ts", import.meta.url).href;
    const program = `
      const { NamedTokens } = await import(${JSON.stringify(module)});
      const [data, prefix] = process.argv.slice(1);
      const tokens = new NamedTokens(data);
      let won = 0;
      for (let i = 0; i < 30; i++) {
        tokens.create({ name: prefix + "-" + i, role: "view" });
        if (i % 2 === 0) tokens.revoke(prefix + "-" + i);
        try { tokens.create({ name: "both-" + i, role: prefix === "a" ? "view" : "admin" }); won++; } catch {}
      }
      console.log(won);`;
    const write = async (prefix: string) =>
      Number(
        (await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, data, prefix])).stdout,
      );
    const won = await Promise.all(["a", "b"].map(write));
    expect(won[0]! + won[1]!).toBe(30);
    const names = tokens.list().map(({ name }) => name);
    const odd = Array.from({ length: 15 }, (_, i) => 2 * i + 1);
    const wanted = ["a", "b"].flatMap((prefix) => odd.map((i) => `${prefix}-${i}`));
    const both = Array.from({ length: 30 }, (_, i) => `both-${i}`);
    expect(names).toEqual([...wanted, ...both].toSorted());
    expect(readdirSync(join(data, "tokens")).filter((file) => file.startsWith("."))).toEqual([]);
  });
});
