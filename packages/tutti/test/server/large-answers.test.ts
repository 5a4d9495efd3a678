import { Hono } from "hono";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { ServerLab } from "./server-lab.ts";
import type { Route } from "../../src/schema/api/route.ts";
import type { Bindings } from "../../src/server/decode.ts";
import { answer } from "../../src/server/handler.ts";
import { LargeAnswers } from "../../src/server/large-answers.ts";

const { signal } = new AbortController();

it("`LargeAnswers` pauses after 2 MiB of answers, so that the memory of many small ones can be collected", async () => {
  const answers = new LargeAnswers();
  const builtAt: number[] = [];
  const build = (bytes: number) =>
    answers.build((count) => {
      count(bytes);
      builtAt.push(performance.now());
    }, signal);
  await Promise.all([1024 * 1024, 1024 * 1024, 0].map(build));
  // A timer of 40 ms may fire a little early.
  expect(builtAt[2]! - builtAt[1]!).toBeGreaterThan(35);
});

it("`LargeAnswers` begins an answer after the one before it is built", async () => {
  const answers = new LargeAnswers();
  const steps: string[] = [];
  const first = Promise.withResolvers<void>();
  const build = (name: string, work: Promise<void> | null) =>
    answers.build(async () => {
      steps.push(`${name} begins`);
      await work;
      steps.push(`${name} ends`);
    }, signal);
  const built = [build("first", first.promise), build("second", null)];
  await expect.poll(() => steps.length).toBeGreaterThan(0);
  // Longer than the turn of a second answer that does not wait.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  first.resolve();
  await Promise.all(built);
  expect(steps).toEqual(["first begins", "first ends", "second begins", "second ends"]);
});

it("an answer that cannot be streamed counts with its bytes", async () => {
  const route: Route = { summary: "", response: z.string(), errors: [], large: true };
  const builtAt: number[] = [];
  const app = new Hono<Bindings>();
  const build = () => {
    builtAt.push(performance.now());
    return "x".repeat(1024 * 1024);
  };
  app.get("/large", (c) => answer(c, route, build, null));
  await Promise.all([1, 2, 3].map(async () => (await app.request("/large")).text()));
  // As above.
  expect(builtAt[2]! - builtAt[1]!).toBeGreaterThan(35);
});

it("`LargeAnswers` builds nothing for a client that is gone, and continues after an answer that fails", async () => {
  const answers = new LargeAnswers();
  const failed = answers.build(() => Promise.reject(new Error("no such run")), signal);
  const gone = answers.build(() => "answer", AbortSignal.abort());
  const last = answers.build(() => "answer", signal);
  await expect(failed).rejects.toThrow("no such run");
  expect(await gone).toBeNull();
  expect(await last).toBe("answer");
});

it("a list of whole states is encoded no further than its client reads", async () => {
  const lab = await ServerLab.open();
  try {
    const body = { templateId: "documentation", cwd: lab.lab.repo, agent: "local", message: "x".repeat(900_000) };
    // More bytes than the buffers of a connection.
    const runs = 40;
    for (let i = 0; i < runs; i++) expect((await lab.post("/api/orchestrator", body)).status).toBe(201);
    const get = vi.spyOn(lab.engine, "get");
    const response = await lab.open("/api/orchestrator?full=1", { headers: lab.bearer });
    expect(get.mock.calls.length).toBeLessThan(runs);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    expect(get).toHaveBeenCalledTimes(runs);
    expect(JSON.parse(Buffer.concat(chunks).toString("utf8"))).toHaveLength(runs);
  } finally {
    await lab.tearDown();
  }
});
