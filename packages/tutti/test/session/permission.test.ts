import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Permissions } from "../../src/schema/permissions.ts";
import { decidePermission, type ToolRequest } from "../../src/session/permission.ts";

const CWD = "/projects/space";
const read = (subject: string, ...paths: string[]): ToolRequest => ({
  tool: "Read",
  kind: "read",
  subject,
  ...(paths.length > 0 ? { paths } : {}),
});
const edit = (subject: string): ToolRequest => ({ tool: "Write", kind: "edit", subject });
const shell = (subject: string): ToolRequest => ({ tool: "Bash", kind: "command", subject });
const rule = (request: ToolRequest, settings: Partial<Permissions> = {}) =>
  decidePermission(request, Permissions.parse(settings), CWD);

describe("`decidePermission`", () => {
  it("allows reading and edits in the workspace by default, and asks the user for the rest", () => {
    for (const inside of ["a.md", "/projects/space/b.md", "/projects/space", ".", ".git/config"])
      expect(rule(read(inside)), inside).toBe("allow");
    for (const outside of ["/etc/hosts", "../a.md", "/projects/space2/a", "/", ""])
      expect(rule(read(outside)), outside).toBe("ask");
    expect(rule(read("**/*.md", "/projects/space/docs"))).toBe("allow");
    expect(rule(read("**/*.md", "/projects/space/docs", "/etc"))).toBe("ask");
    expect(rule({ tool: "TodoWrite", kind: "read", subject: "", paths: [] })).toBe("allow");
    for (const inside of ["a.md", "docs/a.md", "/projects/space/b.md"])
      expect(rule(edit(inside)), inside).toBe("allow");
    for (const outside of [
      "../a.md",
      "/projects/space2/a",
      "/etc/passwd",
      "docs/../../x",
      "",
      ".git/config",
      "/projects/space",
    ])
      expect(rule(edit(outside)), outside).toBe("ask");
    expect(rule(shell("npm test"))).toBe("ask");
    expect(rule({ tool: "WebFetch", kind: "other", subject: "http://x" })).toBe("ask");
  });

  it("follows the lists, and `refuse` wins over everything", () => {
    const settings = {
      allow: ["Bash(npm test*)", "mcp__tutti__*"],
      refuse: ["Bash(npm test -- --danger)", "WebFetch"],
    };
    expect(rule(shell("npm test -- unit"), settings)).toBe("allow");
    expect(rule(shell("npm test -- --danger"), settings)).toBe("refuse");
    expect(rule(shell("npm run build"), settings)).toBe("ask");
    expect(rule({ tool: "mcp__tutti__report", kind: "other", subject: "" }, settings)).toBe("allow");
    expect(rule({ tool: "WebFetch", kind: "other", subject: "http://x" }, { ...settings, mode: "all" })).toBe("refuse");
  });

  it("refuses a refused command anywhere in a command line", () => {
    for (const line of ["id > file", "id; ls", "id", "true && id", "ls | id -u", "(id)", "echo $(id)", "ls\nid"]) {
      expect(rule(shell(line), { mode: "all", refuse: ["Bash(id*)"] }), line).toBe("refuse");
    }
  });

  it("follows links out of the workspace", () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-permission-"));
    const cwd = join(folder, "space");
    mkdirSync(join(cwd, "docs"), { recursive: true });
    symlinkSync(folder, join(cwd, "out"));
    const at = (path: string) => decidePermission(edit(path), Permissions.parse({}), cwd);
    expect(at("docs/new/a.md")).toBe("allow");
    expect(at("out/a.md")).toBe("ask");
    expect(at("out/space/docs/a.md")).toBe("allow");
    rmSync(folder, { recursive: true });
  });

  it("never allows a command that is chained to an allowed one", () => {
    const settings = { allow: ["Bash(npm test*)"] };
    for (const smuggled of [
      "npm test; rm -rf x",
      "npm test && curl x",
      "npm test | sh",
      "npm test $(id)",
      "npm test `id`",
      "npm test\nid",
      "npm test > /etc/x",
    ])
      expect(rule(shell(smuggled), settings), smuggled).toBe("ask");
  });

  it("allows everything, only listed tools, or nothing without a question, by mode", () => {
    expect(rule(shell("anything"), { mode: "all" })).toBe("allow");
    expect(rule(shell("anything"), { mode: "listed" })).toBe("refuse");
    expect(rule(read("/etc/hosts"), { mode: "listed", allow: ["Read"] })).toBe("allow");
    expect(rule(read("/etc/hosts"), { mode: "ask" })).toBe("ask");
    expect(rule(edit("a.md"), { mode: "ask" })).toBe("ask");
  });

  it("matches a star with any text and every other character literally", () => {
    const allowed = (pattern: string, subject: string) => rule(shell(subject), { allow: [pattern] }) === "allow";
    expect(allowed("Bash(a*b*c)", "aXbYc")).toBe(true);
    expect(allowed("Bash(a*b*c)", "aXcYb")).toBe(false);
    expect(allowed("Bash(ab*ba)", "aba")).toBe(false);
    expect(allowed("Bash(a.c)", "abc")).toBe(false);
    expect(allowed("Bas*", "x")).toBe(true);
  });
});
