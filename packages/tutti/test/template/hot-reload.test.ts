import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TemplateFolder } from "../../src/template/files/folder.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

describe("a change on disk", () => {
  it("takes effect at the next use without a restart: a new file, an edit, a removed file (D4-589)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    expect(() => library.resolve("mine")).toThrow(expect.objectContaining({ code: "template_not_found" }));
    const file = lab.user("mine", { extends: "_default", config: { maxWorkers: 2 } });
    expect(library.resolve("mine").template.config.maxWorkers).toBe(2);
    lab.user("mine", { extends: "_default", config: { maxWorkers: 3 } });
    expect(library.resolve("mine").template.config.maxWorkers).toBe(3);
    rmSync(file);
    expect(library.list().map(({ id }) => id)).not.toContain("mine");
    expect(() => library.resolve("mine")).toThrow(expect.objectContaining({ code: "template_not_found" }));
  });

  it("takes effect however soon it follows the previous one, also with the same size", () => {
    const lab = new TemplateLab();
    // The folder alone is fast enough to refresh several times within one tick of the file system clock.
    const folder = new TemplateFolder(lab.userFolder);
    for (let at = 0; at < 500; at++) {
      const description = `version ${at % 10}`;
      lab.user("mine", { description });
      folder.refresh();
      expect(folder.files[0]!.raw).toMatchObject({ description });
    }
  });

  it("takes effect for every template that extends it, in the project too (D4-589)", () => {
    const lab = new TemplateLab();
    lab.user("parent", { extends: "_default", config: { maxWorkers: 2 } });
    lab.ofProject("ours", { extends: "parent" });
    lab.user("other", { extends: "_default", config: { maxWorkers: 4 } });
    const library = lab.open();
    expect(library.resolve("ours", lab.project).template.config.maxWorkers).toBe(2);
    lab.user("parent", { extends: "_default", config: { maxWorkers: 8 } });
    expect(library.resolve("ours", lab.project).template.config.maxWorkers).toBe(8);
    expect(library.resolve("other").template.config.maxWorkers).toBe(4);
  });

  it("does not affect templates that were returned before", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default", config: { maxWorkers: 2 } });
    const library = lab.open();
    const held = library.resolve("mine");
    lab.user("mine", { extends: "_default", config: { maxWorkers: 9 } });
    library.resolve("mine");
    expect(held.template.config.maxWorkers).toBe(2);
  });
});

describe("a broken edit", () => {
  it.each([
    [
      "text that is not JSON",
      '{\n  "id": "mine",\n  "name": "mine"\n  "extends": "_default"\n}',
      /mine\.json.*line 4, column 3/,
    ],
    ["a value that is not allowed", { extends: "_default", config: { maxWorkers: 99 } }, /mine\.json.*maxWorkers/],
    ["an unknown member", { extends: "_default", konfig: {} }, /no member "konfig"/],
    ["a missing parent", { extends: "_defualt" }, /mine -> _defualt/],
    ["a parent that is itself", { extends: "mine" }, /Circular inheritance detected: mine -> mine/],
    ["no prompts and no parent to inherit them from", {}, /"prompts" is missing/],
  ])("keeps the last valid version in use and is reported: %s", (_title, members, problem) => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default", config: { maxWorkers: 2 } });
    lab.user("child", { extends: "mine" });
    const library = lab.open();
    library.list();
    lab.user("mine", members);
    const { template, warnings } = library.resolve("mine");
    expect(template.config.maxWorkers).toBe(2);
    expect(warnings[0]).toMatch(problem);
    expect(warnings[0]).toContain("earlier version");
    const row = library.list().find(({ id }) => id === "mine")!;
    expect(row.valid).toBe(true);
    expect(row.errors.join()).toMatch(problem);
    // Templates that extend it keep working too, with a warning.
    expect(library.resolve("child").template.config.maxWorkers).toBe(2);
    expect(library.resolve("child").warnings.join()).toContain("earlier version");
    lab.user("mine", { extends: "_default", config: { maxWorkers: 5 } });
    expect(library.resolve("mine")).toMatchObject({ template: { config: { maxWorkers: 5 } }, warnings: [] });
    expect(library.list().find(({ id }) => id === "mine")!.errors).toEqual([]);
  });

  it("does not prevent changes to a template that extends it", () => {
    const lab = new TemplateLab();
    lab.user("parent", { extends: "_default", config: { maxWorkers: 2 } });
    lab.user("child", { extends: "parent" });
    const library = lab.open();
    library.list();
    lab.user("parent", "{");
    lab.user("child", { extends: "parent", config: { maxRetries: 4 } });
    lab.user("new", { extends: "parent" });
    expect(library.resolve("child").template.config).toMatchObject({ maxWorkers: 2, maxRetries: 4 });
    expect(library.resolve("child").warnings.join()).toMatch(/earlier version.*parent\.json/);
    expect(library.resolve("new").template.config.maxWorkers).toBe(2);
  });

  it("of two templates into a cycle leaves both unchanged", () => {
    const lab = new TemplateLab();
    lab.user("a", { extends: "b" });
    lab.user("b", { extends: "_default", config: { maxWorkers: 3 } });
    const library = lab.open();
    library.list();
    lab.user("b", { extends: "a" });
    expect(library.resolve("a")).toMatchObject({
      chain: ["a", "b", "_default"],
      warnings: [expect.stringContaining("Circular inheritance detected: a -> b -> a")],
    });
    expect(library.resolve("b").template.config.maxWorkers).toBe(3);
  });

  it("is rejected if the file was never valid", () => {
    const lab = new TemplateLab();
    lab.user("mine", "{");
    const library = lab.open();
    expect(() => library.resolve("mine")).toThrow(
      expect.objectContaining({
        code: "invalid_template",
        message: expect.stringMatching(/mine\.json.*line 1, column 2/),
      }),
    );
    lab.user("child", { extends: "mine" });
    expect(() => library.resolve("child")).toThrow(/child -> mine .*mine\.json/);
  });

  it("is forgotten with its file: a new file of the same name starts afresh", () => {
    const lab = new TemplateLab();
    const file = lab.user("mine", { extends: "_default" });
    const library = lab.open();
    library.resolve("mine");
    rmSync(file);
    library.list();
    lab.user("mine", "{");
    expect(() => library.resolve("mine")).toThrow(expect.objectContaining({ code: "invalid_template" }));
  });
});

it("Other files in the folder, and unfinished files of a writer, are ignored", () => {
  const lab = new TemplateLab();
  for (const name of ["notes.txt", ".mine.json.abc", ".hidden.json", "mine.json~"])
    writeFileSync(join(lab.userFolder, name), JSON.stringify(wholeTemplate("mine")));
  expect(
    lab
      .open()
      .list()
      .every(({ isSystem }) => isSystem),
  ).toBe(true);
});
