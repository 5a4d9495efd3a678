import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { InProcessLab } from "./in-process.ts";

let lab: InProcessLab;
let file: string;
beforeAll(() => {
  lab = new InProcessLab();
  file = join(lab.folder, "house.json");
});
afterAll(() => lab.tearDown());

const house = { id: "house", name: "House style", extends: "documentation", config: { maxWorkers: 2 } };
const templates = (...args: string[]) => lab.tutti(["templates", ...args]);
// oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the type.
const json = async (...args: string[]): Promise<{ code: number | null; last: any }> => lab.json(["templates", ...args]);
const ids = async (...args: string[]) => (await json("list", ...args)).last.map(({ id }: { id: string }) => id);

describe("tutti templates", () => {
  it("lists templates for runs, and with --all those that can only be extended", async () => {
    expect(await ids()).toContain("documentation");
    expect(await ids()).not.toContain("_default");
    expect(await ids("--all")).toContain("_default");
    expect((await templates("list")).stdout).toMatch(/^documentation +system +\S[^:\n]*: \S/m);
  });

  it("validates, stores, shows, duplicates, exports, imports and deletes a template", async () => {
    writeFileSync(file, JSON.stringify(house));
    expect(await json("validate", file)).toMatchObject({ code: 0, last: { valid: true, errors: [] } });
    expect(await json("create", file)).toMatchObject({ code: 0, last: { id: "house", config: { maxWorkers: 2 } } });
    expect(await json("create", file)).toMatchObject({ code: 4, last: { error: { code: "template_exists" } } });
    expect((await json("show", "house")).last).toMatchObject({ id: "house", prompts: { worker: expect.anything() } });
    expect((await json("show", "house", "--raw")).last).toEqual(house);
    const { last: whole } = await json("show", "house", "--provenance");
    expect([whole.chain[0], whole.provenance["/config/maxWorkers"]]).toEqual(["house", "house"]);
    const shown = (await templates("show", "house", "--provenance")).stdout;
    expect(shown).toContain("house extends documentation");
    expect(shown).toContain("/config/maxWorkers  house\n");
    expect((await json("duplicate", "house", "Garden shed")).last.id).toBe("garden-shed");
    expect(await json("delete", "house")).toMatchObject({ code: 4, last: { error: { code: "template_in_use" } } });
    const to = join(lab.folder, "shed.json");
    expect((await templates("export", "garden-shed", to)).stdout).toBe(`garden-shed is written to ${to}\n`);
    expect(await json("export", "garden-shed", to)).toMatchObject({
      code: 4,
      last: { error: { code: "wrong_state" } },
    });
    expect(JSON.parse(readFileSync(to, "utf8"))).toEqual((await json("export", "garden-shed")).last);
    expect((await json("delete", "garden-shed")).last).toEqual({ success: true });
    expect((await json("import", to)).last.extends).toBe("house");
    for (const id of ["garden-shed", "house"]) expect((await json("delete", id)).code).toBe(0);
    expect(await ids()).not.toContain("house");
  });

  it("reads the templates of the project around the current folder, as tutti run does", async () => {
    const sub = join(lab.repo, "deep/folder");
    mkdirSync(sub, { recursive: true });
    mkdirSync(join(lab.repo, ".tutti/templates"), { recursive: true });
    writeFileSync(join(lab.repo, ".tutti/templates/house.json"), JSON.stringify(house));
    const here = vi.spyOn(process, "cwd").mockReturnValue(sub);
    try {
      expect((await json("list")).last).toContainEqual(expect.objectContaining({ id: "house", place: "project" }));
      for (const command of ["show", "export", "preview"]) expect((await json(command, "house")).code).toBe(0);
    } finally {
      here.mockRestore();
    }
    expect(await ids()).not.toContain("house");
  });

  it("previews prompts with values of --var", async () => {
    const { stdout } = await templates("preview", "documentation", "--var", "USER_REQUEST=paint the fence");
    expect(stdout).toMatch(/^--- analysis$/m);
    expect(stdout).toContain("paint the fence");
    expect((await json("preview", "documentation")).last.worker.system).toEqual(expect.stringMatching(/./));
  });

  it("with --cwd includes and stores templates of a project", async () => {
    writeFileSync(file, JSON.stringify({ ...house, id: "ours" }));
    expect((await json("create", file, "--cwd", lab.repo)).code).toBe(0);
    expect(await ids()).not.toContain("ours");
    expect(await ids("--cwd", lab.repo)).toContain("ours");
    expect((await json("show", "ours", "--cwd", lab.repo)).last.config.maxWorkers).toBe(2);
    expect((await json("delete", "ours", "--cwd", lab.repo)).code).toBe(0);
  });

  it("reports every problem of a template with exit 1, and does not store it", async () => {
    writeFileSync(file, JSON.stringify({ ...house, colour: "red", config: { maxWorkers: 0 } }));
    const { code, stdout } = await templates("validate", file);
    expect([code, stdout]).toEqual([1, expect.stringContaining("colour")]);
    expect(stdout).toContain("config.maxWorkers");
    expect(await json("create", file)).toMatchObject({ code: 2, last: { error: { code: "invalid_template" } } });
    expect(await ids()).not.toContain("house");
    writeFileSync(file, "{ half");
    expect(await json("validate", file)).toMatchObject({
      code: 1,
      last: { valid: false, errors: [expect.stringContaining("line 1")] },
    });
  });

  it("exits with 2 for wrong usage, 3 for a missing template or file, and 4 for a protected template", async () => {
    writeFileSync(file, "{ half");
    expect((await json("create", file)).code).toBe(2);
    expect((await json("show", "documentation", "--raw", "--provenance")).code).toBe(2);
    expect((await json("show", "nobody")).code).toBe(3);
    expect((await json("validate", join(lab.folder, "nowhere.json"))).code).toBe(3);
    expect(await json("delete", "documentation")).toMatchObject({
      code: 4,
      last: { error: { code: "template_protected" } },
    });
    expect((await templates("paint")).code).toBe(2);
  });
});
