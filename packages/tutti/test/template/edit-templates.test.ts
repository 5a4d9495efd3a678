import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

/** A library with a system template outside the source folder. */
function withHouseTemplate(lab: TemplateLab) {
  const systemFolder = join(lab.root, "system");
  mkdirSync(systemFolder);
  const file = join(systemFolder, "house.json");
  writeFileSync(file, JSON.stringify(wholeTemplate("house")));
  return { library: lab.open({ systemFolder }), file };
}

describe("creating a template", () => {
  it("writes the given members, is effective immediately and leaves no other file", () => {
    const lab = new TemplateLab();
    rmSync(lab.userFolder, { recursive: true });
    const library = lab.open();
    const raw = { id: "mine", name: "Mine", extends: "_default", config: { maxWorkers: 7 } };
    expect(library.create(raw)).toMatchObject({ place: "user", template: { config: { maxWorkers: 7 } } });
    expect(lab.userFile("mine")).toEqual(raw);
    expect(lab.userFiles()).toEqual(["mine.json"]);
    expect(library.resolve("mine").chain).toEqual(["mine", "_default"]);
  });

  it("derives the id from the name if none is given (D4-383, D4-391, D4-468)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    expect(library.create({ name: "My Thing", extends: "_default" }).template.id).toBe("my-thing");
    expect(library.create({ name: "My Thing", extends: "_default" }).template.id).not.toBe("my-thing");
  });

  it("writes into the project on request", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    const raw = { id: "ours", name: "Ours", extends: "_default" };
    expect(library.create(raw, { place: "project", project: lab.project }).place).toBe("project");
    expect(readdirSync(lab.projectFolder)).toEqual(["ours.json"]);
    expect(library.list().map(({ id }) => id)).not.toContain("ours");
    expect(() => library.create(raw, { place: "project", project: join(lab.root, "none") })).toThrow(
      refused("folder_not_found", /none/),
    );
    expect(() => library.create(raw, { place: "project" })).toThrow(refused("folder_not_found", /Project folder/));
  });

  it("cannot overwrite a system template (D4-151)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    for (const members of [{}, { extends: "_default" }, { extends: "documentation" }]) {
      expect(() => library.create(wholeTemplate("documentation", members))).toThrow(
        refused("template_protected", /documentation.*system/),
      );
    }
    expect(lab.userFiles()).toEqual([]);
  });

  it("rejects an id that is in use, also in the project unless it refines the outer template (D4-152)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    const destination = { place: "project", project: lab.project } as const;
    library.create(wholeTemplate("mine"));
    expect(() => library.create(wholeTemplate("mine"))).toThrow(refused("template_exists", /"mine"/));
    expect(() => library.create(wholeTemplate("mine"), destination)).toThrow(refused("template_exists", /"mine"/));
    expect(() => library.create(wholeTemplate("documentation"), destination)).toThrow(
      refused("template_protected", /documentation/),
    );
    expect(library.create({ id: "mine", name: "Ours", extends: "mine" }, destination).chain).toEqual([
      "mine",
      "mine@user",
    ]);
    expect(() => library.create({ id: "mine", name: "Again", extends: "mine" }, destination)).toThrow(
      refused("template_exists", /"mine"/),
    );
  });

  it("never replaces an existing file, even if it is unreadable or another template", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    lab.user("broken", "{");
    lab.user("renamed", { id: "something", extends: "_default" });
    for (const id of ["broken", "renamed"]) {
      const before = readFileSync(join(lab.userFolder, `${id}.json`), "utf8");
      expect(() => library.create(wholeTemplate(id))).toThrow(refused("template_exists", new RegExp(id)));
      expect(readFileSync(join(lab.userFolder, `${id}.json`), "utf8")).toBe(before);
    }
  });

  it("rejects an invalid template with all its errors, and writes nothing (D4-153, D4-244)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    expect(() => library.create(wholeTemplate("bad", { version: "one", config: { maxWorkers: 0 } }))).toThrow(
      refused("invalid_template", /^Invalid template: .*"version".*"config\.maxWorkers"/),
    );
    for (const raw of [null, [], "text", 5, undefined, { id: "x" }, { name: "X" }, { id: "../x", name: "X" }, {}])
      expect(() => library.create(raw)).toThrow(refused("invalid_template", /^Invalid template: /));
    const huge = wholeTemplate("huge", { description: "x".repeat(1_000_001) });
    expect(() => library.create(huge)).toThrow(refused("invalid_template", /1000000 bytes/));
    expect(lab.userFiles()).toEqual([]);
  });

  it("requires a complete chain of ancestors (D4-154)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    lab.user("a", { extends: "new" });
    expect(() => library.create({ id: "x", name: "X", extends: "none" })).toThrow(
      refused("invalid_template", /^Invalid template: .*x -> none/),
    );
    expect(() => library.create(wholeTemplate("x", { extends: "none" }))).toThrow(
      refused("invalid_template", /^Invalid template: .*x -> none/),
    );
    expect(() => library.create({ id: "new", name: "New", extends: "a" })).toThrow(
      refused("invalid_template", /^Invalid template: Circular inheritance detected: new -> a -> new$/),
    );
    lab.ofProject("ours", { extends: "_default" });
    expect(() => library.create({ id: "x", name: "X", extends: "ours" })).toThrow(
      refused("invalid_template", /x -> ours/),
    );
    expect(lab.userFiles()).toEqual(["a.json"]);
  });

  it("does not write through a link that leaves the project", () => {
    const lab = new TemplateLab();
    const outside = join(lab.root, "outside");
    mkdirSync(outside);
    rmSync(join(lab.project, ".tutti"), { recursive: true });
    symlinkSync(outside, join(lab.project, ".tutti"));
    const destination = { place: "project", project: lab.project } as const;
    expect(() => lab.open().create({ id: "ours", name: "Ours", extends: "_default" }, destination)).toThrow(
      refused("invalid_template", /is outside the project/),
    );
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("updating a template", () => {
  it("merges objects deeply and replaces arrays, in its own file", () => {
    const lab = new TemplateLab();
    const file = lab.user("mine", { extends: "_default", tags: ["a", "b"], config: { maxWorkers: 2, maxRetries: 1 } });
    chmodSync(file, 0o666);
    const library = lab.open();
    const updated = library.update("mine", { id: "mine", tags: ["c"], config: { maxWorkers: 8 } });
    expect(updated.template).toMatchObject({ tags: ["c"], config: { maxWorkers: 8, maxRetries: 1 } });
    expect(lab.userFile("mine")).toEqual({
      id: "mine",
      name: "mine",
      extends: "_default",
      tags: ["c"],
      config: { maxWorkers: 8, maxRetries: 1 },
    });
    expect(lab.userFiles()).toEqual(["mine.json"]);
    expect(statSync(file).mode & 0o777).toBe(0o666);
  });

  it("is not possible for a system template (D4-155)", () => {
    const lab = new TemplateLab();
    expect(() => lab.open().update("_default", { name: "Mine now" })).toThrow(
      refused("template_protected", /_default/),
    );
    const { library, file } = withHouseTemplate(lab);
    expect(() => library.update("house", { name: "Mine now" })).toThrow(refused("template_protected", /house/));
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(wholeTemplate("house"));
    expect(() => lab.open().update("none", {})).toThrow(refused("template_not_found", /none/));
  });

  it("cannot change the id (D4-156)", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default" });
    expect(() => lab.open().update("mine", { id: "yours" })).toThrow(
      refused("invalid_input", /id .*cannot be changed/),
    );
    expect(lab.userFiles()).toEqual(["mine.json"]);
  });

  it("keeps the template valid, or changes nothing (D4-157)", () => {
    const lab = new TemplateLab();
    const file = lab.user("mine", { extends: "_default" });
    const library = lab.open();
    const before = readFileSync(file, "utf8");
    for (const patch of [
      { config: { maxWorkers: 21 } },
      { unknown: 1 },
      { name: "" },
      { extends: "none" },
      { prompts: { responseFormat: { type: "yaml" } } },
      JSON.parse('{"__proto__": {"config": 1}}'),
      JSON.parse('{"config": {"constructor": 1}}'),
    ])
      expect(() => library.update("mine", patch)).toThrow(refused("invalid_template", /^Invalid template: /));
    for (const patch of [null, [], "x"])
      expect(() => library.update("mine", patch)).toThrow(refused("invalid_input", /object/));
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("does not break templates that extend it", () => {
    const lab = new TemplateLab();
    lab.user("parent", wholeTemplate("parent", { extends: "_default" }));
    lab.user("child", { extends: "parent", phases: { verification: { enabled: true } } });
    lab.user("bare", wholeTemplate("bare"));
    const library = lab.open();
    expect(library.resolve("child").template.phases.verification.enabled).toBe(true);
    // Without `_default`, no ancestor provides the prompt that the verification of the child needs.
    expect(() => library.update("parent", { extends: "bare" })).toThrow(
      refused("invalid_template", /"child".*verification/),
    );
  });

  it("is visible to templates that extend it (D4-158)", () => {
    const lab = new TemplateLab();
    lab.user("parent", { extends: "_default", config: { maxWorkers: 2 } });
    lab.user("child", { extends: "parent" });
    lab.user("grandchild", { extends: "child" });
    lab.ofProject("ours", { extends: "grandchild" });
    const library = lab.open();
    expect(library.resolve("ours", lab.project).template.config.maxWorkers).toBe(2);
    library.update("parent", { config: { maxWorkers: 9 } });
    expect(library.resolve("grandchild").template.config.maxWorkers).toBe(9);
    expect(library.resolve("ours", lab.project).template.config.maxWorkers).toBe(9);
  });

  it("does not overwrite an unfinished edit", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default" });
    const library = lab.open();
    library.resolve("mine");
    const file = lab.user("mine", '{ "id": "mine", "name": ');
    expect(() => library.update("mine", { name: "New" })).toThrow(refused("invalid_template", /mine\.json/));
    expect(readFileSync(file, "utf8")).toBe('{ "id": "mine", "name": ');
  });

  it("changes the template of the project if there is one", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default" });
    lab.ofProject("mine", { extends: "mine" });
    lab.open().update("mine", { description: "ours" }, lab.project);
    expect(lab.userFile("mine")).not.toHaveProperty("description");
    expect(lab.open().resolve("mine", lab.project).template.description).toBe("ours");
  });
});

describe("deleting a template", () => {
  it("is not possible for a system template (D4-159)", () => {
    const lab = new TemplateLab();
    expect(() => lab.open().delete("documentation")).toThrow(refused("template_protected", /documentation/));
    const { library, file } = withHouseTemplate(lab);
    expect(() => library.delete("house")).toThrow(refused("template_protected", /house/));
    expect(existsSync(file)).toBe(true);
    expect(() => lab.open().delete("none")).toThrow(refused("template_not_found", /none/));
  });

  it("is rejected while others extend it, and names them (D4-160)", () => {
    const lab = new TemplateLab();
    const file = lab.user("parent", { extends: "_default" });
    lab.user("child", { extends: "parent" });
    lab.ofProject("ours", { extends: "parent" });
    const library = lab.open();
    expect(() => library.delete("parent")).toThrow(refused("template_in_use", /: child\.$/));
    expect(() => library.delete("parent", lab.project)).toThrow(refused("template_in_use", /ours, child\.$/));
    expect(existsSync(file)).toBe(true);
    library.delete("child");
    library.delete("parent");
    expect(existsSync(file)).toBe(false);
  });

  it("removes its file and everything resolved from it (D4-161, D4-162)", () => {
    const lab = new TemplateLab();
    const file = lab.user("mine", { extends: "_default" });
    const library = lab.open();
    library.resolve("mine");
    library.delete("mine");
    expect(existsSync(file)).toBe(false);
    expect(() => library.resolve("mine")).toThrow(refused("template_not_found", /"mine"/));
    expect(library.list().map(({ id }) => id)).not.toContain("mine");
    // An invalid file falls back to an earlier resolved version, if there is one.
    lab.user("mine", "{");
    expect(() => library.resolve("mine")).toThrow(refused("invalid_template", /mine\.json/));
  });

  it("of a project's refinement leaves the outer template", () => {
    const lab = new TemplateLab();
    lab.ofProject("documentation", { extends: "documentation", config: { maxWorkers: 1 } });
    const library = lab.open();
    library.delete("documentation", lab.project);
    expect(library.resolve("documentation", lab.project).place).toBe("system");
    expect(() => library.delete("documentation", lab.project)).toThrow(refused("template_protected", /documentation/));
  });

  it("works for an unreadable file, and for one whose name is not the id (D4-161)", () => {
    const lab = new TemplateLab();
    lab.user("broken", "{");
    lab.user("other-name", { id: "mine", extends: "_default" });
    const library = lab.open();
    library.delete("broken");
    library.delete("mine");
    expect(lab.userFiles()).toEqual([]);
  });
});

describe("duplicating a template", () => {
  it("stores only an id, the name and what it extends (D4-163, E44)", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    const copy = library.duplicate("documentation", "My Copy");
    expect(lab.userFile("my-copy")).toEqual({ id: "my-copy", name: "My Copy", extends: "documentation" });
    expect(copy.template.prompts).toEqual(library.resolve("documentation").template.prompts);
    expect(copy).toMatchObject({ place: "user", template: { id: "my-copy", name: "My Copy" } });
    expect(library.duplicate("documentation", "My Copy").template.id).toBe("my-copy-2");
    expect(() => library.duplicate("none", "X")).toThrow(refused("template_not_found", /none/));
  });

  it("of a project's template stays in the project, which alone can see the original", () => {
    const lab = new TemplateLab();
    lab.ofProject("ours", { extends: "_default" });
    expect(lab.open().duplicate("ours", "Copy", lab.project)).toMatchObject({
      place: "project",
      chain: ["copy", "ours", "_default"],
    });
  });
});

describe("an exported template", () => {
  it("has the content of its file, and can be imported elsewhere", () => {
    const [here, there] = [new TemplateLab(), new TemplateLab()];
    here.user("mine", { extends: "_default", config: { maxWorkers: 3 } });
    const text = here.open().exportTemplate("mine");
    expect(JSON.parse(text)).toEqual(here.userFile("mine"));
    expect(there.open().importTemplate(text).template.config.maxWorkers).toBe(3);
    expect(there.userFile("mine")).toEqual(here.userFile("mine"));
    expect(() => there.open().importTemplate(JSON.parse(text))).toThrow(refused("template_exists", /mine/));
  });

  it("is rejected with the line if it is not JSON", () => {
    const lab = new TemplateLab();
    expect(() => lab.open().importTemplate('{\n  "id": "x",\n  oops\n}')).toThrow(
      refused("invalid_template", /^Invalid template: .*line 3, column 3/),
    );
  });
});

describe("a generated id", () => {
  it("is valid in a URL and as a file name, and not in use (D4-391)", () => {
    const lab = new TemplateLab();
    lab.user("my-template", { extends: "_default" });
    lab.user("file-name", { id: "other", extends: "_default" });
    lab.ofProject("ours", { extends: "_default" });
    const library = lab.open();
    expect(library.generateId("Ünïcode & Größe / 2")).toBe("unicode-gro-e-2");
    expect(library.generateId("My Template!")).toBe("my-template-2");
    expect(library.generateId("documentation")).toBe("documentation-2");
    expect(library.generateId("File name")).toBe("file-name-2");
    expect(library.generateId("Ours")).toBe("ours");
    expect(library.generateId("Ours", lab.project)).toBe("ours-2");
    expect(library.generateId("漢字")).toBe("template");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (name) => {
        const id = library.generateId(name);
        expect(id).toMatch(/^[a-z0-9][a-z0-9-]{0,70}$/);
        expect(library.list().map((row) => row.id)).not.toContain(id);
      }),
      { numRuns: 50 },
    );
  });
});

it("A folder that cannot be written is reported, and no partial file is left", () => {
  const lab = new TemplateLab();
  rmSync(lab.userFolder, { recursive: true });
  writeFileSync(lab.userFolder, "a file where the folder should be");
  expect(() => lab.open().create(wholeTemplate("mine"))).toThrow(refused("storage_failed", /mine\.json/));
  expect(readFileSync(lab.userFolder, "utf8")).toBe("a file where the folder should be");
});
