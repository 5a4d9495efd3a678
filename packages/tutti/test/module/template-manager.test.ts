import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { TemplateManager } from "../../src/index.ts";
import { wholeTemplate } from "../template/template-lab.ts";

type Raw = Record<string, unknown>;

async function makeManager(files: Record<string, Raw | string> = {}) {
  const templatesDir = mkdtempSync(join(tmpdir(), "tutti-manager-"));
  onTestFinished(() => rmSync(templatesDir, { recursive: true, force: true }));
  mkdirSync(join(templatesDir, "custom"));
  for (const [path, content] of Object.entries(files)) {
    writeFileSync(join(templatesDir, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  const manager = new TemplateManager(templatesDir);
  await manager.initialize();
  return manager;
}

describe("TemplateManager", () => {
  it("is created with a folder and knows the folder of custom templates (D4-376, D4-377)", () => {
    const manager = new TemplateManager("/some/templates");
    expect(manager).toMatchObject({ templatesDir: "/some/templates", customDir: join("/some/templates", "custom") });
    expect(manager.templates).toEqual(new Map());
    expect(manager.resolvedCache).toEqual(new Map());
  });

  it("initialize loads the existing templates, and works without any (D4-378)", async () => {
    const manager = await makeManager({ "custom/mine.json": { id: "mine", name: "Mine", extends: "_default" } });
    expect([...manager.templates.keys()]).toEqual(expect.arrayContaining(["_default", "mine"]));
    const empty = new TemplateManager("/nowhere/at/all");
    await empty.initialize();
    expect(empty.templates.has("_default")).toBe(true);
  });

  it("loadSchema returns a function that checks whether a template is valid (D4-379)", async () => {
    const manager = await makeManager();
    const validate = await manager.loadSchema();
    expect(validate({ id: "x", name: "X", extends: "_default" })).toBe(true);
    expect(validate.errors).toBeNull();
    expect(validate({ id: "x", name: "X", extends: "none" })).toBe(false);
    expect(validate.errors).toEqual([expect.stringContaining("x -> none")]);
  });

  it("loadAllTemplates reads system templates from the folder and custom ones from custom (D4-119, D4-120, D4-380, D4-390)", async () => {
    const manager = await makeManager({
      "house.json": wholeTemplate("house"),
      "schema.json": { type: "object" },
      "custom/mine.json": { id: "mine", name: "Mine", extends: "house" },
    });
    const templates = await manager.loadAllTemplates();
    expect(templates).toBe(manager.templates);
    expect([...templates.keys()]).toEqual(expect.arrayContaining(["_default", "documentation", "house"]));
    expect(templates.get("mine")).toEqual({ id: "mine", name: "Mine", extends: "house" });
    expect(templates.has("schema")).toBe(false);
    expect([manager.isSystemTemplate("house"), manager.isSystemTemplate("_default")]).toEqual([true, true]);
    expect([manager.isSystemTemplate("mine"), manager.isSystemTemplate("none")]).toEqual([false, false]);
  });

  it("warns about an invalid template while loading, and continues (D4-243)", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const manager = await makeManager({
      "custom/broken.json": "{",
      "custom/half.json": { id: "half", name: "Half" },
      "custom/fine.json": { id: "fine", name: "Fine", extends: "_default" },
    });
    expect(warn.mock.calls.map(([text]) => text)).toEqual([
      "Template broken has validation errors:",
      "Template half has validation errors:",
    ]);
    expect(manager.templates.has("half")).toBe(true);
    await expect(manager.getTemplate("half")).rejects.toMatchObject({ code: "invalid_template" });
    await expect(manager.getTemplate("fine")).resolves.toMatchObject({ id: "fine" });
  });

  it("getTemplate returns a resolved template, and keeps it in `resolvedCache` (D4-377, D4-381)", async () => {
    const manager = await makeManager({
      "custom/mine.json": { id: "mine", name: "Mine", extends: "_default", config: { maxWorkers: 10 } },
    });
    const template = await manager.getTemplate("mine");
    expect(template.config).toMatchObject({ maxWorkers: 10, workerTimeout: 300_000 });
    expect(manager.resolvedCache.get("mine")).toEqual(template);
    await expect(manager.getTemplate("none")).rejects.toMatchObject({ code: "template_not_found" });
  });

  it("getAllTemplates returns the documented row for each template, including system templates (D4-382)", async () => {
    const manager = await makeManager({
      "custom/mine.json": { id: "mine", name: "Mine", extends: "_default", icon: "🎯" },
    });
    const rows = await manager.getAllTemplates();
    const names = [
      "author",
      "description",
      "extends",
      "icon",
      "id",
      "isInternal",
      "isSystem",
      "name",
      "tags",
      "version",
    ];
    for (const row of rows) expect(Object.keys(row).toSorted()).toEqual(names);
    expect(rows.find(({ id }) => id === "mine")).toMatchObject({
      isSystem: false,
      isInternal: false,
      extends: "_default",
      icon: "🎯",
    });
    expect(rows.find(({ id }) => id === "_default")).toMatchObject({ isSystem: true, isInternal: true, extends: null });
    expect(rows.find(({ id }) => id === "documentation")).toMatchObject({ isSystem: true, isInternal: false });
  });

  it("createTemplate writes into custom and rejects system ids, existing ids and invalid templates (D4-151, D4-152, D4-153, D4-244, D4-383)", async () => {
    const manager = await makeManager({
      "custom/by-hand.json": { id: "theirs", name: "Theirs", extends: "_default" },
    });
    const created = await manager.createTemplate({
      id: "mine",
      name: "Mine",
      extends: "_default",
      config: { maxWorkers: 3 },
    });
    expect(created).toMatchObject({ id: "mine", config: { maxWorkers: 3, workerTimeout: 300_000 } });
    expect(readdirSync(manager.customDir)).toEqual(["by-hand.json", "mine.json"]);
    expect(manager.templates.get("mine")).toMatchObject({ extends: "_default" });
    await expect(manager.createTemplate(wholeTemplate("_default"))).rejects.toMatchObject({
      code: "template_protected",
    });
    await expect(manager.createTemplate(wholeTemplate("mine"))).rejects.toMatchObject({ code: "template_exists" });
    await expect(manager.createTemplate(wholeTemplate("theirs"))).rejects.toMatchObject({ code: "template_exists" });
    await expect(manager.createTemplate({ id: "x" })).rejects.toThrow(/^Invalid template: /);
    expect(readdirSync(manager.customDir)).toEqual(["by-hand.json", "mine.json"]);
  });

  it("updateTemplate merges, keeps the id, and clears the cache (D4-155, D4-156, D4-158, D4-384)", async () => {
    const manager = await makeManager({
      "house.json": wholeTemplate("house"),
      "custom/mine.json": { id: "mine", name: "Mine", extends: "_default", config: { maxRetries: 1 } },
      "custom/child.json": { id: "child", name: "Child", extends: "mine" },
    });
    expect((await manager.getTemplate("child")).config.maxWorkers).toBe(5);
    const updated = await manager.updateTemplate("mine", { config: { maxWorkers: 8 } });
    expect(updated.config).toMatchObject({ maxWorkers: 8, maxRetries: 1, workerTimeout: 300_000 });
    expect(manager.resolvedCache.size).toBe(0);
    expect((await manager.getTemplate("child")).config.maxWorkers).toBe(8);
    await expect(manager.updateTemplate("mine", { id: "other" })).rejects.toThrow(/id .*cannot be changed/);
    for (const id of ["_default", "house"]) {
      await expect(manager.updateTemplate(id, { name: "X" })).rejects.toMatchObject({ code: "template_protected" });
    }
  });

  it("deleteTemplate removes the file and the cache entry, and rejects system templates and parents (D4-159, D4-160, D4-161, D4-162, D4-385)", async () => {
    const manager = await makeManager({
      "house.json": wholeTemplate("house"),
      "custom/mine.json": { id: "mine", name: "Mine", extends: "_default" },
      "custom/child.json": { id: "child", name: "Child", extends: "mine" },
    });
    await manager.getTemplate("child");
    await expect(manager.deleteTemplate("mine")).rejects.toMatchObject({ code: "template_in_use" });
    for (const id of ["_default", "house"]) {
      await expect(manager.deleteTemplate(id)).rejects.toMatchObject({ code: "template_protected" });
    }
    await manager.deleteTemplate("child");
    expect(existsSync(join(manager.customDir, "child.json"))).toBe(false);
    expect(manager.resolvedCache.size).toBe(0);
    expect(manager.templates.has("child")).toBe(false);
    await manager.deleteTemplate("mine");
  });

  it("duplicateTemplate creates a custom template that extends the original (D4-163, D4-386)", async () => {
    const manager = await makeManager();
    const copy = await manager.duplicateTemplate("documentation", "My Copy");
    expect(copy).toMatchObject({ id: "my-copy", name: "My Copy", extends: "documentation", phases: {} });
    expect(JSON.parse(readFileSync(join(manager.customDir, "my-copy.json"), "utf8"))).toEqual({
      id: "my-copy",
      name: "My Copy",
      extends: "documentation",
    });
  });

  it("resolveInheritance resolves a template that is not stored, and detects cycles through `visited` (D4-131, D4-387)", async () => {
    const manager = await makeManager();
    writeFileSync(join(manager.customDir, "b.json"), JSON.stringify({ id: "b", name: "B", extends: "a" }));
    const template = { id: "x", name: "X", extends: "_default", tags: ["mine"] };
    const visited = new Set<string>();
    expect(manager.resolveInheritance(template, visited)).toMatchObject({ tags: ["mine"], config: { maxWorkers: 5 } });
    expect([...visited]).toEqual(["x"]);
    expect(() => manager.resolveInheritance(template, new Set(["x", "y"]))).toThrow(
      /^Circular inheritance detected: x -> y -> x$/,
    );
    expect(() => manager.resolveInheritance({ id: "a", name: "A", extends: "b" })).toThrow(
      /^Circular inheritance detected: a -> b -> a$/,
    );
  });

  it("validateTemplate, substituteVariables and generateTemplateId work independently (D4-388, D4-389, D4-391)", async () => {
    const manager = await makeManager({ "custom/my-name.json": { id: "my-name", name: "X", extends: "_default" } });
    expect(manager.validateTemplate({ id: "x", name: "X", extends: "_default" })).toEqual({
      valid: true,
      errors: [],
      warnings: [],
    });
    const unused = { id: "x", name: "X", extends: "_default", variables: { UNUSED: "1" } };
    expect(manager.validateTemplate(unused)).toMatchObject({
      valid: true,
      warnings: ['"variables.UNUSED" is not used in any prompt.'],
    });
    expect(manager.validateTemplate({ id: "x", name: "X", extends: "none" })).toEqual({
      valid: false,
      errors: [expect.stringContaining("x -> none")],
      warnings: [],
    });
    expect(manager.substituteVariables("{A} {B} {C}", { A: true, B: [1, 2] })).toBe("yes 1, 2 {C}");
    expect(manager.generateTemplateId("My Name")).toBe("my-name-2");
    expect(manager.generateTemplateId("Crème & Co./2")).toBe("creme-co-2");
  });

  it("resolves all parts of a template, from prompts to ui (D4-392, D4-393, D4-395)", async () => {
    const manager = await makeManager();
    const template = await manager.getTemplate("_default");
    expect(Object.keys(template.phases)).toEqual([
      "analysis",
      "taskPlanning",
      "workerExecution",
      "aggregation",
      "verification",
    ]);
    expect(Object.keys(template.prompts).toSorted()).toEqual([
      "aggregation",
      "analysis",
      "responseFormat",
      "taskPlanning",
      "verification",
      "worker",
    ]);
    expect(template.config).toMatchObject({ autoSpawn: false, retryOnError: true, sessionPrefix: "__orch_" });
  });

  it("resolves a template without settings and phases, and keeps every part of a prompt (D4-392, D4-393, D4-395)", async () => {
    const format = { phase: "task_list", requiredFields: ["tasks"] };
    const prompt = { system: "Answer after {DELIMITER_START}.", user: "{USER_REQUEST}" };
    const prompts = { analysis: prompt, worker: prompt, aggregation: prompt, verification: prompt };
    const manager = await makeManager({
      "house.json": { id: "house", name: "House", prompts: { ...prompts, taskPlanning: { ...prompt, format } } },
    });
    const template = await manager.getTemplate("house");
    expect(template.config).toMatchObject({
      maxWorkers: 5,
      workerTimeout: 300_000,
      autoSpawn: false,
      parallelExecution: true,
      retryOnError: true,
      maxRetries: 2,
      sessionPrefix: "__orch_",
      pollInterval: 2000,
      hideWorkersFromList: true,
    });
    expect(template.phases).toMatchObject({
      analysis: { enabled: true },
      taskPlanning: { enabled: true },
      workerExecution: { enabled: true },
      aggregation: { enabled: true },
      verification: { enabled: false },
    });
    expect(template.prompts).toMatchObject({ ...prompts, taskPlanning: { ...prompt, format } });
  });
});
