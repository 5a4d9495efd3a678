import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CANARIES, leaksIn, SECRET_ENV } from "./canaries.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { SecretVault } from "../../src/session/secrets/secret-vault.ts";
import { secretValues } from "../../src/session/secrets/secrets.ts";

const RUN = "orch_000000000001";
const OTHER = "orch_000000000002";
const secrets = createSecrets(secretValues(SECRET_ENV));
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tutti-vault-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const folder = () => join(root, "vault");
const openVault = () => new SecretVault({ folder: folder(), secrets: () => secrets });

describe("the vault", () => {
  it("seals every secret in any value, and opens it again after a restart", () => {
    const value = { text: CANARIES.map(({ printed }) => `key ${printed} end`), deep: [{ ok: "no secret", n: 1 }] };
    const sealed = openVault().seal(RUN, value);
    expect(leaksIn(JSON.stringify(sealed))).toEqual([]);
    expect(sealed.deep).toBe(value.deep);
    expect(openVault().open(RUN, sealed)).toEqual(value);
  });

  it("seals names of members too, as in data that a user pastes", () => {
    const value = { deep: [{ [CANARIES[0]!.printed]: 1, other: true }] };
    const sealed = openVault().seal(RUN, value);
    expect(leaksIn(JSON.stringify(sealed))).toEqual([]);
    expect(openVault().open(RUN, sealed)).toEqual(value);
    expect(leaksIn(JSON.stringify(openVault().hide(value)))).toEqual([]);
  });

  it("gives equal secrets equal placeholders in one folder, and others in another", () => {
    const secret = CANARIES[0]!.printed;
    const [one, two] = [openVault().seal(RUN, secret), openVault().seal(OTHER, secret)];
    expect(one).toMatch(/^\[secret [0-9a-f]{10}\]$/);
    expect(two).toBe(one);
    const elsewhere = new SecretVault({ folder: join(root, "elsewhere"), secrets: () => secrets });
    expect(elsewhere.seal(RUN, secret)).not.toBe(one);
  });

  it("opens only the secrets of the same run or of the run it was copied from", () => {
    const vault = openVault();
    const sealed = vault.seal(RUN, CANARIES[0]!.printed);
    expect(vault.open(OTHER, sealed)).toBe(sealed);
    vault.copy(RUN, OTHER);
    expect(vault.open(OTHER, sealed)).toBe(CANARIES[0]!.printed);
    vault.remove(RUN);
    expect(vault.open(RUN, sealed)).toBe(sealed);
    expect(openVault().open(OTHER, sealed)).toBe(CANARIES[0]!.printed);
  });

  it("stores nothing for values without secrets or for hidden ones, and its files are for their owner only", () => {
    const vault = openVault();
    expect(vault.seal(RUN, { a: "words" })).toEqual({ a: "words" });
    expect(leaksIn(vault.hide(CANARIES[0]!.printed))).toEqual([]);
    expect(readdirSync(folder())).toEqual(["key"]);
    vault.seal(RUN, CANARIES[0]!.printed);
    const modes = [folder(), ...readdirSync(folder()).map((name) => join(folder(), name))];
    expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
    expect(readFileSync(join(folder(), `${RUN}.json`), "utf8")).toContain(CANARIES[0]!.core);
  });
});
