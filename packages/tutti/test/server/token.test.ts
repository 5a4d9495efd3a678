// The token: made once, kept from others, the same for everybody.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadToken } from "../../src/server/token.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-token-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe("the token", () => {
  it("is made at the first start, for the owner only, and the same from then on", () => {
    const data = join(folder, "not", "there", "yet");
    const token = loadToken(data);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(modeOf(join(data, "token"))).toBe(0o600);
    expect(readdirSync(data)).toEqual(["token"]);
    expect(loadToken(data)).toBe(token);
    expect(loadToken(join(folder, "other"))).not.toBe(token);
  });

  it("that others could read is closed to them again", () => {
    const token = loadToken(folder);
    chmodSync(join(folder, "token"), 0o644);
    expect(loadToken(folder)).toBe(token);
    expect(modeOf(join(folder, "token"))).toBe(0o600);
  });

  it("of the person's own choice is taken as it is and not written down", () => {
    expect(loadToken(folder, "s3cret!")).toBe("s3cret!");
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(["", "with space", "line\nbreak", "ünïcode"])("%j, which no header can carry, is refused", (token) => {
    expect(() => loadToken(folder, token)).toThrow(expect.objectContaining({ code: "usage" }));
  });

  it("is not replaced silently when its file is damaged", () => {
    writeFileSync(join(folder, "token"), "");
    expect(() => loadToken(folder)).toThrow(expect.objectContaining({ code: "storage_failed" }));
    expect(readFileSync(join(folder, "token"), "utf8")).toBe("");
  });

  it("survives what a start that was killed left behind", () => {
    writeFileSync(join(folder, `token.${process.pid}.new`), "half");
    const token = loadToken(folder);
    expect([loadToken(folder), readdirSync(folder)]).toEqual([token, ["token"]]);
  });
});
