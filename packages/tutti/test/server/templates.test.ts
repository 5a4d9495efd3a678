// The template routes under both of their addresses.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const get = (path = "") => lab.api(`/api/templates${path}`);
const post = (path: string, body?: unknown) => lab.post(`/api/templates${path}`, body);
const house = { id: "house", name: "House style", extends: "documentation", config: { maxWorkers: 2 } };

describe.each(["/api/orchestrator/templates", "/api/templates"])("%s", (base) => {
  it("lists, shows, creates, updates and deletes (D4-466, D4-467, D4-468, D4-469, D4-470)", async () => {
    const { json: list } = await lab.api(base);
    expect(list.map(({ id }: { id: string }) => id)).toContain("documentation");
    expect(list[0]).toMatchObject({ id: "_default", isSystem: true, isInternal: true, valid: true, errors: [] });
    const { json: whole } = await lab.api(`${base}?full=1`);
    expect(whole.map(({ id }: { id: string }) => id)).toEqual(list.map(({ id }: { id: string }) => id));
    expect(whole).toContainEqual((await lab.api(`${base}/documentation`)).json);
    const made = await lab.post(base, house);
    expect([made.status, made.json.config.maxWorkers]).toEqual([201, 2]);
    expect((await lab.api(`${base}/house`)).json).toEqual(made.json);
    expect((await lab.api(`${base}/house?resolved=0`)).json).toEqual(house);
    const changed = await lab.put(`${base}/house`, { config: { maxRetries: 1 }, tags: ["a"] });
    expect([changed.status, changed.json.config]).toMatchObject([200, { maxWorkers: 2, maxRetries: 1 }]);
    expect((await lab.put(`${base}/house`, { tags: ["b"] })).json.tags).toEqual(["b"]);
    expect((await lab.delete(`${base}/house`)).json).toEqual({ success: true });
    expect((await lab.api(`${base}/house`)).status).toBe(404);
  });
});

describe("a template", () => {
  it("returns the source of each value", async () => {
    await post("", house);
    const { json } = await get("/house?provenance=1");
    expect(Object.keys(json)).toEqual(["template", "provenance", "chain", "warnings"]);
    expect(json.template).toEqual((await get("/house")).json);
    expect(json.chain.slice(0, 2)).toEqual(["house", "documentation"]);
    expect(json.provenance["/config/maxWorkers"]).toBe("house");
    await lab.delete("/api/templates/house");
  });

  it("without an id gets one derived from its name (D4-468)", async () => {
    const { status, json } = await post("", { name: "Ça va!", extends: "documentation" });
    expect([status, json.id]).toEqual([201, "ca-va"]);
    await lab.delete("/api/templates/ca-va");
  });

  it("is duplicated, exported and imported again (D4-471)", async () => {
    const copy = await post("/documentation/duplicate", { newName: "My docs" });
    expect([copy.status, copy.json.id, copy.json.name]).toEqual([201, "my-docs", "My docs"]);
    expect((await get("/my-docs?resolved=0")).json).toEqual({
      id: "my-docs",
      name: "My docs",
      extends: "documentation",
    });
    const exported = await get("/my-docs/export");
    expect(exported.headers["content-disposition"]).toBe('attachment; filename="my-docs.json"');
    expect((await post("/import", exported.json)).json.error.code).toBe("template_exists");
    await lab.delete("/api/templates/my-docs");
    const imported = await post("/import", exported.json);
    expect([imported.status, imported.json]).toEqual([201, copy.json]);
    await lab.delete("/api/templates/my-docs");
    expect((await post("/import", JSON.stringify(exported.text))).json).toEqual(copy.json);
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const refused = await post("/import", JSON.stringify(deep));
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining("nested more than 64")]);
    await lab.delete("/api/templates/my-docs");
  });

  it("is previewed with the user's values or with examples", async () => {
    const { json } = await post("/documentation/preview", { variables: { USER_REQUEST: "paint the fence" } });
    expect(JSON.stringify(json)).toContain("paint the fence");
    const plain = await post("/documentation/preview");
    expect(Object.keys(plain.json)).toEqual(["analysis", "taskPlanning", "worker", "aggregation", "verification"]);
    expect(JSON.stringify(plain.json)).not.toContain("paint the fence");
    expect((await post("/documentation/preview", { variables: "all" })).status).toBe(400);
  });

  it("is validated without being stored", async () => {
    const sound = await post("/validate", house);
    expect([sound.status, sound.json]).toEqual([200, { valid: true, errors: [], warnings: [] }]);
    const { json } = await post("/validate", { ...house, extends: "nobody", config: { maxWorkers: 0 } });
    expect([json.valid, json.errors.length]).toEqual([false, 2]);
    expect((await post("/validate", [])).json.valid).toBe(false);
    expect((await post("/validate")).status).toBe(400);
    expect((await get("/house")).status).toBe(404);
  });

  it("of a project is listed and stored with the query parameter project", async () => {
    const project = `?project=${encodeURIComponent(lab.lab.repo)}`;
    expect((await post(project, { ...house, id: "ours" })).status).toBe(201);
    expect((await get("/ours")).status).toBe(404);
    expect((await get(`/ours${project}`)).status).toBe(200);
    const listed = (await get(project)).json.find(({ id }: { id: string }) => id === "ours");
    expect(listed).toMatchObject({ place: "project" });
    expect((await lab.put(`/api/templates/ours${project}`, { name: "Ours" })).json.name).toBe("Ours");
    const copy = await post(`/ours/duplicate${project}`, { newName: "Theirs" });
    expect([copy.status, (await get("/theirs")).status]).toEqual([201, 404]);
    for (const id of ["theirs", "ours"]) expect((await lab.delete(`/api/templates/${id}${project}`)).status).toBe(200);
    expect((await get("?project=repo")).status).toBe(400);
    const nowhere = await get(`?project=${encodeURIComponent(join(lab.lab.folder, "nowhere"))}`);
    expect([nowhere.status, nowhere.json.error.code]).toEqual([422, "folder_not_found"]);
    mkdirSync(join(lab.lab.folder, "plain"));
    expect((await get(`?project=${encodeURIComponent(join(lab.lab.folder, "plain"))}`)).status).toBe(200);
  });
});

describe("an invalid request for a template", () => {
  it.each([
    ["PUT", "/documentation", { name: "Mine" }, 403, "template_protected"],
    ["DELETE", "/documentation", undefined, 403, "template_protected"],
    ["POST", "", { id: "documentation", name: "Mine", extends: "_default" }, 403, "template_protected"],
    ["PUT", "/nobody", { name: "Mine" }, 404, "template_not_found"],
    ["POST", "/nobody/duplicate", { newName: "Mine" }, 404, "template_not_found"],
    ["POST", "", { ...house, extends: "nobody" }, 422, "invalid_template"],
    ["POST", "/import", { ...house, colour: "red" }, 422, "invalid_template"],
    ["POST", "/import", '"{ half"', 422, "invalid_template"],
    ["POST", "", "[]", 400, "invalid_input"],
    ["POST", "", "{", 400, "invalid_input"],
    ["POST", "/import", undefined, 400, "invalid_input"],
    ["PUT", "/documentation", undefined, 400, "invalid_input"],
    ["POST", "/documentation/duplicate", {}, 400, "invalid_input"],
    ["POST", "/documentation/duplicate", { newName: " " }, 400, "invalid_input"],
    ["GET", "/documentation?resolved=no", undefined, 400, "invalid_input"],
    ["GET", "?full=all", undefined, 400, "invalid_input"],
  ])("%s /api/templates%s is rejected (%#)", async (method, path, body, status, code) => {
    const listBefore = (await get()).json;
    const answered = await lab.api(`/api/templates${path}`, { method, body });
    expect([answered.status, answered.json.error.code]).toEqual([status, code]);
    expect((await get()).json).toEqual(listBefore);
  });

  it("gets every problem of the template in the error", async () => {
    const { json } = await post("", { ...house, colour: "red", config: { maxWorkers: 0 } });
    expect(json.error.details.errors.join(" ")).toMatch(/colour.*maxWorkers|maxWorkers.*colour/s);
  });

  it("returns 409 if the template exists already, or if another one extends it", async () => {
    await post("", house);
    const again = await post("", house);
    expect([again.status, again.json.error.code]).toEqual([409, "template_exists"]);
    await post("", { id: "shed", name: "Shed", extends: "house" });
    const used = await lab.delete("/api/templates/house");
    expect([used.status, used.json.error.code]).toEqual([409, "template_in_use"]);
    expect(used.json.error.details).toEqual({ extendedBy: ["shed"] });
    for (const id of ["shed", "house"]) await lab.delete(`/api/templates/${id}`);
  });
});
