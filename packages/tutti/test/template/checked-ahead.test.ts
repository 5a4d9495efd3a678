// The templates that the build has checked, so that a run of a built-in one needs no zod.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { checkTemplates } from "../../../../scripts/check-templates.mjs";
import { CHECKED_FOLDER, checkedName } from "../../src/template/check/checked-ahead.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";

const build = mkdtempSync(join(tmpdir(), "tutti-checked-"));
checkTemplates(build);
afterAll(() => rmSync(build, { recursive: true }));
const library = new TemplateLibrary();

it.each(library.list().map(({ id }) => id))("the build stores %s as the sources resolve it", (id) => {
  const { template, outer } = library.resolve(id);
  expect(JSON.parse(readFileSync(join(build, CHECKED_FOLDER, checkedName(outer)), "utf8"))).toEqual(template);
});

it("a template with any other value has another name, so it is checked again", () => {
  const { outer } = library.resolve("testing");
  expect(checkedName({ ...outer, author: "me" })).not.toBe(checkedName(outer));
  expect(checkedName(structuredClone(outer))).toBe(checkedName(outer));
});
