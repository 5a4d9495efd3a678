// Refusals of a provider through the whole engine, with the real Claude.
import { afterEach, expect, test } from "vitest";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { fail, type Step } from "../lab/model/step.ts";
import { askedFor, goodWork, playRun } from "../lab/model/tutti-run.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

let lab: Lab;
let model: ModelEndpoint;

afterEach(async () => {
  await model.close();
  lab.tearDown();
});

/** Starts a run of one task whose worker gets the failure that `refusing` returns. */
async function start(refusing: () => Step | null) {
  const work: Script = (request) => {
    const refusal = refusing();
    return refusal ? [refusal] : goodWork("alpha")(request);
  };
  model = await startModel(playRun({ tasks: [{ id: "alpha", work }] }));
  lab = new Lab();
  const env = agentEnv("claude", model, lab.folder);
  const given = agentEnvFlags(env);
  const flags = ["--template", "implementation", "--agent", "claude", "--cwd", lab.repo, "--yes", ...given];
  return { env, given, result: await lab.json(["run", "Write a page", ...flags], env) };
}

const requestsOfTask = () => model.requests.filter((request) => askedFor(request).task === "alpha");

function events<T extends StoredEvent["type"]>(type: T): Extract<StoredEvent, { type: T }>[] {
  return lab.events().filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type);
}

const attempts = () => events("worker:spawning").map(({ data }) => data.attempt);

test("the engine waits for an overloaded provider, and the task completes in the same attempt", async () => {
  // The program retries by itself first and reports that. Only a refusal that ends its turn counts.
  const refusals = () => events("provider:refused").filter(({ data }) => !data.trying);
  const isRefused = () => refusals().length > 0;
  const { result } = await start(() => (isRefused() ? null : fail("overloaded", { retryAfterSeconds: 1 })));
  expect(result.code, result.stderr).toBe(0);
  expect(result.last).toMatchObject({ outcome: "success", census: { completed: 1 } });
  const [refused, ...more] = refusals();
  expect(refused!.data).toMatchObject({ provider: "claude", cause: "overloaded", count: 1 });
  expect(more).toEqual([]);
  expect(events("worker:completed")[0]!.timestamp).toBeGreaterThanOrEqual(refused!.data.until);
  expect(attempts()).toEqual([1]);
  expect(new Set(requestsOfTask().map(({ session }) => session)).size).toBe(1);
  expect(lab.leftovers()).toEqual([]);
});

test("an invalid key fails at once with advice, and the retry of the task continues the run", async () => {
  let refuses = true;
  const { result, env, given } = await start(() => (refuses ? fail("unauthorised") : null));
  expect(result.code).not.toBe(0);
  expect(requestsOfTask()).toHaveLength(1);
  const [paused] = events("orchestrator:paused");
  expect(paused!.data.detail).toContain("Log in again or set its key");
  refuses = false;
  const { id } = paused!.data;
  const again = await lab.json(["retry", id, "alpha", ...given], env);
  expect(again.last, again.stderr).toMatchObject({ outcome: "success" });
  expect(lab.leftovers()).toEqual([]);
});

test("a usage limit parks the run with an inbox item, and the answer resumes it", async () => {
  let refuses = true;
  const resetAt = Math.floor(Date.now() / 1000) + 7200;
  const message = `Claude AI usage limit reached|${resetAt}`;
  const { env, given } = await start(() => (refuses ? fail("rateLimit", { message }) : null));
  const inbox = await lab.json(["inbox"], env);
  const [item] = inbox.last as unknown as { id: string; kind: string; evidence: object }[];
  expect(item).toMatchObject({ kind: "limit", evidence: { provider: "claude", resetAt: resetAt * 1000 } });
  refuses = false;
  const again = await lab.json(["answer", item!.id, "--option", "0", ...given], env);
  expect(again.code, again.stderr).toBe(0);
  expect(again.last).toMatchObject({ outcome: "success" });
  // The session had ended with the command that was parked, and continues its conversation.
  expect(attempts()).toEqual([1]);
  expect(events("worker:failed")).toEqual([]);
  expect(lab.leftovers()).toEqual([]);
});
