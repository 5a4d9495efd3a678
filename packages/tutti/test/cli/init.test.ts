import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tuttiJson } from "./in-process.ts";
import { readProjectConfig } from "../../src/config/config.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-init-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("tutti init", () => {
  it("writes a valid configuration and template, and overwrites no file", async () => {
    const project = join(folder, "new", "project");
    const files = ["tutti.config.json", ".tutti/templates/example.json"];
    expect(await tuttiJson(["init", project])).toMatchObject({ code: 0, last: { written: files, kept: [] } });
    const { template, agent } = readProjectConfig(project);
    const resolved = new TemplateLibrary().resolve(template!, project);
    expect([agent, resolved.programs, resolved.warnings]).toEqual(["local", [], []]);

    writeFileSync(join(project, "tutti.config.json"), "mine");
    rmSync(join(project, ".tutti"), { recursive: true });
    expect(await tuttiJson(["init", project])).toMatchObject({
      code: 0,
      last: { written: [".tutti/templates/example.json"], kept: ["tutti.config.json"] },
    });
    expect(readFileSync(join(project, "tutti.config.json"), "utf8")).toBe("mine");
    expect(await tuttiJson(["init", join(project, "tutti.config.json")])).toMatchObject({ code: 2 });
  });
});
