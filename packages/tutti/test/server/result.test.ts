// The routes that show and take the result of a run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { CANARIES, leaksIn } from "../session/canaries.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let ended: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  const agent = lab.lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), goodWorker]);
  ended = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(ended, ({ released }) => released);
});
afterAll(() => lab.tearDown());

it("the diff has a patch per file, which stat=1 leaves out, can be restricted to a task and a path, and is paged", async () => {
  const diff = async (query: string) => (await lab.api(`/api/runs/${ended}/diff${query}`)).json;
  const base = lab.lab.git("rev-parse", "HEAD");
  const head = lab.lab.git("rev-parse", `tutti/${ended}`);
  const counts = { status: "added", additions: 1, deletions: 0 };
  const whole = await diff("");
  expect(whole).toMatchObject({ base, head, stat: expect.stringContaining("2 files changed") });
  expect(whole.files).toEqual([
    { path: "docs/a.md", ...counts, patch: `${lab.lab.git("diff", base, head, "--", "docs/a.md")}\n` },
    { path: "docs/b.md", ...counts, patch: expect.stringMatching(/^diff --git /) },
  ]);
  expect((await diff("?stat=1")).files).toEqual([
    { path: "docs/a.md", ...counts },
    { path: "docs/b.md", ...counts },
  ]);
  expect((await diff("?task=b&stat=1")).files).toEqual([{ path: "docs/b.md", ...counts }]);
  expect((await diff("?path=docs/a.md&stat=1")).files).toEqual([{ path: "docs/a.md", ...counts }]);
  const { files, next, ...about } = await diff("?limit=1");
  expect([files, next]).toEqual([[whole.files[0]], "docs/a.md"]);
  expect(await diff(`?limit=1&after=${next}`)).toEqual({ ...about, files: [whole.files[1]] });
  const last = await diff("?after=docs/b.md");
  expect([last.files, last.next]).toEqual([[], undefined]);
  expect(await diff("?after=c")).toMatchObject({ error: { code: "invalid_input" } });
  expect(await diff("?limit=501")).toMatchObject({ error: { code: "invalid_input" } });
  expect(await diff("?task=c")).toMatchObject({ error: { code: "task_not_found" } });
  expect(await diff("?path=%00")).toMatchObject({ error: { code: "invalid_input" } });
});

it("a result is merged with the undo in the response, refused with 409 if that is impossible, and dropped", async () => {
  const post = (action: string, body?: object) => lab.post(`/api/runs/${ended}/${action}`, body);
  const { repo } = lab.lab;
  const old = lab.lab.git("rev-parse", "HEAD");
  lab.lab.write("README.md", "mine\n");
  expect(await post("merge")).toMatchObject({ status: 409, json: { error: { code: "wrong_state" } } });
  lab.lab.git("checkout", "--quiet", "README.md");
  const merged = await post("merge", { noFf: true });
  const now = lab.lab.git("rev-parse", "HEAD");
  expect(merged).toMatchObject({
    status: 200,
    json: { branch: "trunk", from: old, to: now, undo: `git reset --keep ${old}` },
  });
  expect([now === old, existsSync(join(repo, "docs/a.md"))]).toEqual([false, true]);
  expect(await post("drop")).toMatchObject({
    status: 200,
    json: { branch: `tutti/${ended}`, commit: expect.any(String) },
  });
  expect(lab.lab.git("for-each-ref", "refs/heads/tutti")).toBe("");
});

it("a run after another one gets the secrets of its request in the prompts, and the log of neither contains them", async () => {
  const secret = CANARIES.find(({ name }) => name === "Anthropic")!.printed;
  const agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker], "secret.json");
  const settings = { autoStart: true, config: { autoSpawn: true } };
  const first = await lab.create(agent, { ...settings, message: `use ${secret} for it` });
  await lab.until(first, ({ released }) => released);
  const second = await lab.create(agent, { ...settings, after: first });
  const { base, follows, mainSessionId } = await lab.until(second, ({ released }) => released);
  expect([base, follows?.run]).toEqual([lab.lab.git("rev-parse", `tutti/${first}`), first]);
  const prompts = (await lab.engine.transcript(second, mainSessionId!)).filter(({ type }) => type === "prompt");
  expect(prompts[0]).toMatchObject({ text: expect.stringContaining(`Its request: use ${secret} for it`) });
  for (const run of [first, second]) expect(leaksIn(JSON.stringify(lab.engine.events({ run })))).toEqual([]);
});
