import { Hono } from "hono";
import { expect, it } from "vitest";
import type { Bindings } from "../../src/server/decode.ts";
import { forwardRequest, type ForwardedRequest } from "../../src/server/forward.ts";
import type { TuttiError } from "../../src/schema/error.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

const SECRET = ["ghp", "_", "F4".repeat(18)].join("");

it("the answer of another server, which does not know the role of the token, is hidden before it is sent", async () => {
  const engine = { isForeign: () => true, runOfItem: () => null };
  const owner = async () => ({ status: 200, type: "application/json", body: '[{"text":"a \\"secret\\""}]' });
  const hide = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("secret", "***")) as T;
  const bodyFor = async (hideOfRole: typeof hide | null) => {
    const app = new Hono<Bindings>();
    app.get("/api/orchestrator/:id/result", async (c) => (await forwardRequest(c, engine, owner, hideOfRole, null))!);
    return (await app.request("/api/orchestrator/orch_1/result")).json();
  };
  expect(await bodyFor(hide)).toEqual([{ text: 'a "***"' }]);
  expect(await bodyFor(null)).toEqual([{ text: 'a "secret"' }]);
});

it("a body above 1 MiB is not read to its end and not forwarded", async () => {
  const engine = { isForeign: () => true, runOfItem: () => null };
  const app = new Hono<Bindings>();
  let codes: unknown[] = [];
  app.onError((error, c) => {
    codes = [...codes, (error as TuttiError).code];
    return c.body(null, 413);
  });
  app.post(
    "/api/orchestrator/:id/start",
    async (c) => (await forwardRequest(c, engine, () => expect.fail(), null, null))!,
  );
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++sent < 1000) controller.enqueue(new Uint8Array(64 * 1024));
      else controller.close();
    },
  });
  await app.request("/api/orchestrator/orch_1/start", { method: "POST", body, duplex: "half" });
  expect(codes).toEqual(["payload_too_large"]);
  expect(sent).toBeLessThan(40);
});

it("a search that is forwarded for the role view does not find the text of a secret on the other server", async () => {
  const lab = await ServerLab.open();
  try {
    const agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    const id = await lab.create(agent, { message: `use ${SECRET} for it` });
    await lab.post(`/api/orchestrator/${id}/start`);
    const { mainSessionId } = await lab.until(id, ({ status }) => status === "confirming");
    const path = `/api/orchestrator/${id}/workers/${mainSessionId}/transcript?find=${SECRET}`;
    // As `serveForwarded`, which sends the request with the token of the owner.
    const owner = async ({ path: target, headers }: ForwardedRequest) => {
      const { status, text } = await lab.ask(target, { headers: { ...headers, ...lab.bearer } });
      return { status, type: "application/json", body: text };
    };
    const search = async (hide: (<T>(value: T) => T) | null) => {
      const app = new Hono<Bindings>();
      const engine = { isForeign: () => true, runOfItem: () => null };
      app.get(
        "/api/orchestrator/:id/workers/:key/transcript",
        async (c) => (await forwardRequest(c, engine, (_run, request) => owner(request), hide, null))!,
      );
      return (await app.request(path)).json();
    };
    expect(await search(null)).not.toEqual([]);
    expect(await search((value) => value)).toEqual([]);
  } finally {
    await lab.tearDown();
  }
});
