import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkRaw } from "../../src/template/check/check-raw.ts";
import { TemplateFolder } from "../../src/template/files/folder.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { TemplatePlace } from "../../src/template/files/place.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

describe("the list of templates", () => {
  it("has the data that a user needs to choose a template (D4-382, E46)", () => {
    const lab = new TemplateLab();
    lab.user("mine", {
      name: "Mine",
      description: "For me.",
      icon: "🎯",
      author: "ada",
      version: "2.1.0",
      tags: ["a", "b"],
      extends: "_default",
    });
    const library = lab.open();
    expect(library.list().find(({ id }) => id === "mine")).toEqual({
      id: "mine",
      name: "Mine",
      description: "For me.",
      icon: "🎯",
      author: "ada",
      version: "2.1.0",
      tags: ["a", "b"],
      isSystem: false,
      isInternal: false,
      extends: "_default",
      place: "user",
      valid: true,
      errors: [],
    });
    expect(library.list().find(({ id }) => id === "_default")).toMatchObject({
      isSystem: true,
      isInternal: true,
      extends: null,
      place: "system",
    });
    expect(library.list().find(({ id }) => id === "documentation")).toMatchObject({
      isSystem: true,
      isInternal: false,
      extends: "_default",
    });
  });

  it("has every id once, in order, with the nearest template", () => {
    const lab = new TemplateLab();
    lab.user("zebra", { extends: "_default", description: "mine" });
    lab.user("ant", { extends: "_default" });
    lab.ofProject("zebra", { extends: "zebra", description: "ours" });
    const library = lab.open();
    const places = Object.fromEntries(library.list(lab.project).map(({ id, place }) => [id, place]));
    expect(places).toMatchObject({ _default: "system", ant: "user", zebra: "project" });
    const ids = library.list(lab.project).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(library.list().find(({ id }) => id === "zebra")).toMatchObject({ place: "user", description: "mine" });
  });

  it("has only the built-in templates without folders", () => {
    const library = new TemplateLibrary({ userFolder: "/nowhere/templates" });
    expect(library.list("/nowhere/project").every(({ isSystem, valid }) => isSystem && valid)).toBe(true);
    expect(new TemplateLibrary().list().map(({ id }) => id)).toContain("documentation");
  });

  it("has built-in templates that pass the check of a file, which their own loading leaves out", () => {
    const library = new TemplateLibrary();
    for (const { id } of library.list()) expect(checkRaw(library.raw(id)), id).toEqual({ raw: library.raw(id) });
  });

  it("shows an unusable template with its errors, and using it is rejected (D4-243, E45)", () => {
    const lab = new TemplateLab();
    lab.user("broken", { extends: "_default", config: { maxWorkers: 50 } });
    lab.user("half", {});
    const library = lab.open();
    expect(library.list().find(({ id }) => id === "broken")).toMatchObject({
      valid: false,
      errors: ['broken.json: "config.maxWorkers" must be at most 20; it is 50.'],
    });
    expect(library.list().find(({ id }) => id === "half")).toMatchObject({ valid: false, name: "half" });
    expect(() => library.resolve("broken")).toThrow(
      expect.objectContaining({ code: "invalid_template", message: expect.stringContaining("at most 20") }),
    );
    expect(() => library.raw("broken")).toThrow(expect.objectContaining({ code: "invalid_template" }));
    expect(library.resolve("documentation").template.id).toBe("documentation");
  });

  it("uses the file that is named after the id if two files have the same id, and reports the other", () => {
    const lab = new TemplateLab();
    lab.user("aaa", { id: "twin", extends: "_default", description: "other" });
    lab.user("twin", { extends: "_default", description: "right" });
    const [row] = lab
      .open()
      .list()
      .filter(({ id }) => id === "twin" || id === "aaa");
    expect(row).toMatchObject({ id: "twin", description: "right", valid: true });
    expect(row!.errors.join()).toContain("aaa.json");
    expect(lab.open().resolve("twin").warnings.join()).toContain("aaa.json");
  });
});

describe("a requested template", () => {
  it("that does not exist is rejected with the known ids", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default" });
    for (const ask of [() => lab.open().resolve("none"), () => lab.open().raw("none")]) {
      expect(ask).toThrow(
        expect.objectContaining({
          code: "template_not_found",
          message: expect.stringMatching(/"none".*documentation.*mine/),
        }),
      );
    }
  });

  it("is a copy: changes by a caller affect no other caller", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default", tags: ["a"] });
    const library = lab.open();
    const first = library.resolve("mine");
    first.template.tags.push("b");
    first.template.config.maxWorkers = 1;
    first.chain.pop();
    library.raw("mine")["name"] = "changed";
    expect(library.resolve("mine")).toMatchObject({
      chain: ["mine", "_default"],
      template: { tags: ["a"], config: { maxWorkers: 5 } },
    });
    expect(library.raw("mine")["name"]).toBe("mine");
  });

  it("is resolved once while nothing changes (D4-129)", () => {
    const lab = new TemplateLab();
    lab.user("base", wholeTemplate("base"));
    lab.user("mine", { extends: "base" });
    const place = new TemplatePlace("user", new TemplateFolder(lab.userFolder), null);
    place.refresh();
    const first = place.at("mine")!.resolution;
    expect(first).not.toBeNull();
    place.refresh();
    expect(place.at("mine")!.resolution).toBe(first);
    lab.user("base", wholeTemplate("base", { description: "new" }));
    place.refresh();
    expect(place.at("mine")!.resolution).not.toBe(first);
    expect(place.at("mine")!.resolution!.template.description).toBe("new");
  });

  it("in raw form has only the members of its file", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "documentation" });
    expect(lab.open().raw("mine")).toEqual({ id: "mine", name: "mine", extends: "documentation" });
  });

  it("can come from an additional system folder, which wins over the built-in templates", () => {
    const lab = new TemplateLab();
    const folder = join(lab.root, "more");
    mkdirSync(folder);
    writeFileSync(join(folder, "house.json"), JSON.stringify(wholeTemplate("house")));
    writeFileSync(join(folder, "schema.json"), "{}");
    const library = lab.open({ systemFolder: folder });
    expect(library.list().find(({ id }) => id === "house")).toMatchObject({ isSystem: true });
    expect(library.list().map(({ id }) => id)).not.toContain("schema");
    expect(library.isSystem("house")).toBe(true);
    expect(() => library.delete("house")).toThrow(expect.objectContaining({ code: "template_protected" }));
  });
});

describe("a preview", () => {
  it("shows every prompt with sample values, the template's variables and the unknown names (D4-132, D4-144)", () => {
    const lab = new TemplateLab();
    const raw = wholeTemplate("mine", { variables: { LANGUAGE: "english", EXAMPLES: true } });
    const prompts = raw["prompts"] as Record<string, unknown>;
    prompts["worker"] = { system: "In {LANGUAGE}, examples {EXAMPLES}: {TASK_ID}.", user: "{MOOD} {DELIMITER_START}" };
    prompts["analysis"] = { system: "{TASK_ID} {CUSTOM_INSTRUCTIONS}{DELIMITER_START} in {CWD}" };
    lab.user("mine", raw);
    const library = lab.open();
    expect(library.preview("mine").worker).toEqual({
      system: "In english, examples yes: task_001.",
      user: "{MOOD} <<<ORCHESTRATOR_RESPONSE>>>",
      unknown: ["MOOD"],
    });
    expect(library.preview("mine", { CWD: "/here" }).analysis).toEqual({
      system: "{TASK_ID} <<<ORCHESTRATOR_RESPONSE>>> in /here",
      user: null,
      unknown: ["TASK_ID"],
    });
    expect(library.preview("mine", { MOOD: ["a", "b"] }).worker).toMatchObject({
      user: expect.stringMatching(/^a, b /),
      unknown: [],
    });
    expect(Object.keys(library.preview("mine"))).toEqual(["analysis", "taskPlanning", "worker", "aggregation"]);
  });

  it("of a built-in template leaves no variable open", () => {
    const library = new TemplateLibrary();
    for (const { id } of library.list()) {
      for (const [name, { unknown }] of Object.entries(library.preview(id)))
        expect(unknown, `${id} ${name}`).toEqual([]);
    }
  });
});
