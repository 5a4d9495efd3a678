// Files that a folder of templates may contain by mistake or on purpose.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { locateJsonError } from "../../src/template/check/locate-json-error.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

const makePipe = "mkfifo";

function errorsOf(lab: TemplateLab, id: string): string {
  const row = lab
    .open()
    .list()
    .find((one) => one.id === id)!;
  expect(row.valid).toBe(false);
  return row.errors.join(" ");
}

describe("a template file", () => {
  it("that is a link out of its folder is not read", () => {
    const lab = new TemplateLab();
    const secret = join(lab.root, "secret.json");
    writeFileSync(secret, JSON.stringify(wholeTemplate("stolen")));
    symlinkSync(secret, join(lab.userFolder, "stolen.json"));
    symlinkSync(join(lab.root, "nothing"), join(lab.userFolder, "nothing.json"));
    symlinkSync("loop.json", join(lab.userFolder, "loop.json"));
    expect(errorsOf(lab, "stolen")).toMatch(/stolen\.json.*link to a file outside its folder/);
    expect(errorsOf(lab, "nothing")).toMatch(/nothing\.json.*link to a file that does not exist/);
    expect(errorsOf(lab, "loop")).toMatch(/loop\.json.*link to a file that does not exist/);
  });

  it("that is a link within its folder is read, and changes with its target", () => {
    const lab = new TemplateLab();
    const target = join(lab.userFolder, "target.txt");
    writeFileSync(target, JSON.stringify(wholeTemplate("linked")));
    symlinkSync("target.txt", join(lab.userFolder, "linked.json"));
    const library = lab.open();
    expect(library.resolve("linked").template.description).toBe("");
    writeFileSync(target, JSON.stringify(wholeTemplate("linked", { description: "new" })));
    expect(library.resolve("linked").template.description).toBe("new");
  });

  it("in a project folder that is a link out of the project is not read", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "_default" });
    rmSync(join(lab.project, ".tutti"), { recursive: true });
    mkdirSync(join(lab.project, ".tutti"));
    symlinkSync(lab.userFolder, lab.projectFolder);
    expect(() => lab.open().list(lab.project)).toThrow(
      expect.objectContaining({
        code: "invalid_template",
        message: expect.stringContaining("is outside the project"),
      }),
    );
  });

  it("that exceeds one megabyte, is a folder or a pipe, or is not text, is rejected", () => {
    const lab = new TemplateLab();
    lab.user("huge", JSON.stringify(wholeTemplate("huge", { description: "x".repeat(1_000_000) })));
    mkdirSync(join(lab.userFolder, "folder.json"));
    execFileSync(makePipe, [join(lab.userFolder, "pipe.json")]);
    writeFileSync(join(lab.userFolder, "bytes.json"), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    expect(errorsOf(lab, "huge")).toMatch(/larger than 1000000 bytes/);
    expect(errorsOf(lab, "folder")).toMatch(/not a file/);
    expect(errorsOf(lab, "pipe")).toMatch(/not a file/);
    expect(errorsOf(lab, "bytes")).toMatch(/bytes\.json cannot be used/);
  });

  it("cannot reach a shared prototype, at any depth", () => {
    const lab = new TemplateLab();
    for (const name of ["__proto__", "constructor", "prototype"]) {
      lab.user(
        "evil",
        `{"id":"evil","name":"E","extends":"_default","variables":{"A":"b"},"config":{"${name}":{"x":1}}}`,
      );
      expect(errorsOf(lab, "evil")).toContain(`"config.${name}"`);
      lab.user("evil", `{"id":"evil","name":"E","${name}":{"polluted":true}}`);
      expect(errorsOf(lab, "evil")).toContain(`"${name}"`);
      lab.user("evil", `{"id":"evil","name":"E","tags":[{"${name}":1}]}`);
      expect(errorsOf(lab, "evil")).toContain(`"tags.0.${name}"`);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("that is nested too deeply is rejected, and the program continues", () => {
    const lab = new TemplateLab();
    lab.user("deep", `{"id":"deep","name":"D","tags":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    lab.user("open", "[".repeat(900_000));
    expect(errorsOf(lab, "deep")).toMatch(/nested more than 30 levels/);
    expect(errorsOf(lab, "open")).toMatch(/column 900001: the text ends unexpectedly/);
  });

  it("with thousands of errors reports the first fifty", () => {
    const lab = new TemplateLab();
    lab.user("many", { extends: "_default", tags: Array.from({ length: 5000 }, () => 1) });
    const row = lab
      .open()
      .list()
      .find(({ id }) => id === "many")!;
    expect(row.errors).toHaveLength(51);
    expect(row.errors.at(-1)).toContain("4950 more");
  });

  it("with a byte-order mark is read", () => {
    const lab = new TemplateLab();
    lab.user("mark", `\uFEFF${JSON.stringify(wholeTemplate("mark"))}`);
    expect(lab.open().resolve("mark").template.id).toBe("mark");
  });

  it("whose name is not an id is listed with its error", () => {
    const lab = new TemplateLab();
    lab.user("My Template", { id: "My Template" });
    expect(errorsOf(lab, "My Template")).toMatch(/"id" must be/);
  });
});

describe("text that is not JSON", () => {
  it.each([
    ["", "line 1, column 1: the text ends unexpectedly"],
    ['{\n  "a": 1,\n}', 'line 3, column 1: expected a name in double quotes, found "}"'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: expected "," or "}", found "\\""'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
    ["[1, 2", "line 1, column 6: the text ends unexpectedly"],
    ["[1,]", 'line 1, column 4: expected a value, found "]"'],
    ["{'a': 1}", 'line 1, column 2: expected a name in double quotes, found "\'"'],
    ['{"a": // no\n1}', 'line 1, column 7: expected a value, found "/"'],
    ['{"a": "x\ny"}', "line 1, column 7: this string is not closed on its line"],
    ['{"a": "\\x"}', "line 1, column 7: this string is not closed on its line"],
    ["{} {}", 'line 1, column 4: expected the end of the text, found "{"'],
    ["[1}", 'line 1, column 3: expected "," or "]", found "}"'],
    ["nul", 'line 1, column 1: expected a value, found "n"'],
    ["01", 'line 1, column 2: expected the end of the text, found "1"'],
  ])("%j is reported with its line and column", (text, sentence) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(locateJsonError(text)).toContain(sentence);
  });

  it("is reported at the position where a valid text was damaged, or later", () => {
    const damage = fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", "@", '"', "}", "]", ","));
    fc.assert(
      fc.property(damage, ([sound, at, sign]) => {
        const place = at % sound.length;
        const text = sound.slice(0, place) + sign + sound.slice(place + 1);
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const sentence = locateJsonError(text);
        // A valid text has no error before its end.
        if (isJson)
          expect(sentence).toMatch(new RegExp(`column ${text.split("\n").at(-1)!.length + 1}: the text ends`));
        else expect(sentence).toMatch(/^line \d+, column \d+: .+/);
      }),
      { numRuns: 1000 },
    );
  });
});
