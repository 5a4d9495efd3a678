// Follows docs/tutorial.md from an empty folder to the merged change, with the real Claude and a scripted model.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { blocksOf, PAGE, runCommands } from "../cli/tutorial-page.ts";
import { Lab } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { goodWork, playRun } from "../lab/model/tutti-run.ts";
import { playUser } from "../lab/terminal.ts";

const PATIENCE_MS = 300_000;
let lab: Lab;
let model: ModelEndpoint;

beforeEach(async () => {
  lab = new Lab();
  model = await startModel(
    playRun({ tasks: ["price", "stock"].map((id) => ({ id, work: goodWork(id, `docs/${id}.md`) })) }),
  );
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await model.close();
  lab.tearDown();
});

test("the commands of the tutorial lead to a merged change of a project", async () => {
  const [project = "", run = "", result = "", look = ""] = blocksOf("sh");
  const env = agentEnv("claude", model, lab.folder);
  await runCommands(lab, lab.folder, project, env);
  const shop = join(lab.folder, "shop");

  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  vi.stubEnv("TUTTI_DATA_DIR", lab.data);
  const args = [run.trim().slice("tutti ".length)];
  const { code, shown } = await playUser(args, [["Carry out this plan? [y/s/e/r/d/q/?] ", "y"]], {
    cwd: shop,
    giveUpMs: PATIENCE_MS,
  });
  vi.unstubAllEnvs();
  expect(code, shown).toBe(0);
  expect(shown).toContain("2 planned, 2 completed");
  const [id] = /orch_\w+/.exec(shown)!;
  expect(model.problems).toEqual([]);
  // The figures of "What it costs".
  const [, requests, kilobytes] = /(\d+) requests of about (\d+) kB/.exec(readFileSync(PAGE, "utf8"))!;
  expect(model.requests).toHaveLength(Number(requests));
  const bytes = model.requests.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0);
  expect(bytes / model.requests.length / 1000).toBeGreaterThan(Number(kilobytes) * 0.7);
  expect(bytes / model.requests.length / 1000).toBeLessThan(Number(kilobytes) * 1.4);

  const { stdout: taken } = await runCommands(lab, shop, result.replaceAll("RUN", id), env);
  expect(taken).toContain("+Written by its worker.");
  const { stdout: seen } = await runCommands(lab, shop, look, env);
  expect(seen).toMatch(/First version\n/);
  expect(seen).toContain("Written by its worker.");
  expect(readFileSync(join(shop, "docs/stock.md"), "utf8")).toContain("# stock");
});
