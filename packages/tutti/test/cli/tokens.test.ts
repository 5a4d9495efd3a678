// `tutti tokens` on the data folder of a running server, and with `--url`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tutti, tuttiJson } from "./in-process.ts";
import { ServerLab } from "../server/server-lab.ts";

let lab: ServerLab;
beforeEach(async () => {
  lab = await ServerLab.open();
});
afterEach(() => lab.tearDown());

interface Value {
  name?: string;
  role?: string;
  token?: string;
  expiresAt?: string | null;
  error?: { code: string; message: string };
}
const here = (...args: string[]) => tutti(["--data-dir", lab.lab.data, "tokens", ...args]);
const json = (...args: string[]) => tuttiJson<Value>(["--data-dir", lab.lab.data, "tokens", ...args]);
const at = (token: string, ...args: string[]) =>
  tuttiJson<Value>(["--url", `http://${lab.host}`, "--token", token, "tokens", ...args]);
const roleAt = async (token: string) => {
  const { status, json: access } = await lab.ask("/api/access", { headers: { authorization: `Bearer ${token}` } });
  return status === 200 ? (access.role as string) : status;
};

describe("tutti tokens", () => {
  it("creates a token that a running server accepts at once, prints it once, and revokes it", async () => {
    const created = await here("create", "ci", "--role", "operate", "--expires", "30");
    const [token, words] = created.stdout.split("\n");
    expect([created.code, created.stderr]).toEqual([0, ""]);
    expect(token).toMatch(/^tutti_ci_[\w-]{43}$/);
    expect(words).toMatch(
      /^Store this token now: it is not shown again\. Its role is operate, valid until \d{4}-\d\d-\d\d\.$/,
    );
    expect(await roleAt(token!)).toBe("operate");
    const listed = await here("list");
    expect(listed.stdout).toMatch(/^ci {2}operate {2}created \d{4}-\d\d-\d\d, valid until \d{4}-\d\d-\d\d\n$/);
    expect(listed.stdout).not.toContain(token);
    expect(readFileSync(join(lab.lab.data, "tokens", "ci.json"), "utf8")).not.toContain(token!.slice(-43));
    expect(await here("revoke", "ci")).toMatchObject({ code: 0, stdout: "ci is revoked\n" });
    expect(await roleAt(token!)).toBe(401);
    expect((await here("list")).stdout).toBe('No named tokens. Create one with "tutti tokens create".\n');
  });

  it("prints only the token with --quiet, and all its members with --json", async () => {
    const quiet = await tutti(["--quiet", "--data-dir", lab.lab.data, "tokens", "create", "a", "--role", "view"]);
    expect(quiet.stdout).toMatch(/^tutti_a_[\w-]{43}\n$/);
    const { last } = await json("create", "b", "--role", "admin");
    expect(last).toMatchObject({
      name: "b",
      role: "admin",
      expiresAt: null,
      token: expect.stringMatching(/^tutti_b_/),
    });
    const { last: rows } = await json("list");
    expect(rows).toMatchObject([
      { name: "a", role: "view", expired: false },
      { name: "b", role: "admin" },
    ]);
    expect(JSON.stringify(rows)).not.toContain("tutti_");
  });

  it("refuses invalid requests with a specific error code", async () => {
    await json("create", "ci", "--role", "view");
    const wrong: [string[], number, string][] = [
      [["create", "ci", "--role", "admin"], 4, "token_exists"],
      [["create", "x"], 2, "usage"],
      [["create", "x", "--role", "owner"], 2, "usage"],
      [["create", "x", "--role", "view", "--expires", "0"], 2, "usage"],
      [["create", "x", "--role", "view", "--expires", "soon"], 2, "usage"],
      [["create", "My Laptop", "--role", "view"], 2, "invalid_input"],
      [["revoke", "nobody"], 3, "token_not_found"],
    ];
    for (const [args, exit, code] of wrong) {
      const { code: ended, last } = await json(...args);
      expect([args, ended, last.error?.code]).toEqual([args, exit, code]);
    }
    expect((await json("list")).last).toMatchObject([{ name: "ci", role: "view" }]);
  });

  it("uses the server of --url, which requires the role admin", async () => {
    const { last: made } = await at(lab.token, "create", "boss", "--role", "admin", "--expires", "1");
    const { last: guest } = await at(made.token!, "create", "guest", "--role", "view");
    expect((await at(made.token!, "list")).last).toMatchObject([{ name: "boss" }, { name: "guest" }]);
    const refused = await at(guest.token!, "revoke", "boss");
    expect([refused.code, refused.last.error]).toEqual([
      4,
      expect.objectContaining({
        code: "needs_role",
        message: expect.stringContaining('The token "guest" has the role view'),
      }),
    ]);
    expect((await at(made.token!, "revoke", "guest")).code).toBe(0);
    expect(await at(guest.token!, "list")).toMatchObject({ code: 4, last: { error: { code: "unauthorized" } } });
    expect((await at(lab.token, "create", "boss", "--role", "view")).last.error?.code).toBe("token_exists");
  });
});
