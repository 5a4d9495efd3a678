import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { Bindings } from "../../src/server/decode.ts";
import { TOKEN_NAME_HEADER } from "../../src/server/access/holder.ts";
import { forwardRequest, type ForwardedRequest } from "../../src/server/forward.ts";
import type { TuttiError } from "../../src/schema/error.ts";
import { forwarderOf, serveForwarded } from "../../src/main/forwarding.ts";
import { RESTRICT_HEADER } from "../../src/server/access/restriction.ts";
import { startServer, type RunningServer } from "../../src/server/start-server.ts";
import type { RequestBox } from "../../src/store/postgres/request-box.ts";
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

it("a request is forwarded with the name of its token, so that the other server can record it", async () => {
  const engine = { isForeign: () => true, runOfItem: () => null };
  const names: (string | undefined)[] = [];
  const owner = async (_run: string, { headers }: ForwardedRequest) => {
    names.push(headers[TOKEN_NAME_HEADER]);
    return { status: 200, type: "application/json", body: "[]" };
  };
  for (const name of ["ann", null]) {
    const app = new Hono<Bindings>();
    app.post("/api/orchestrator/:id/gate/override", async (c) => {
      c.set("holder", { name, role: "admin", id: name ?? "" });
      return (await forwardRequest(c, engine, owner, null, null))!;
    });
    await app.request("/api/orchestrator/orch_1/gate/override", { method: "POST", body: "{}" });
  }
  expect(names).toEqual(["ann", undefined]);
});

describe("the export of a transcript that another server has", () => {
  /** Longer than a chunk of the answer, so that the answer begins before the second page is read. */
  const long = "x".repeat(70_000);
  const entries = [1, 2, 3, 4, 5].map((n) => ({ n, text: `line ${n} with a secret ${long}` }));
  const path = "/api/orchestrator/orch_1/workers/session_1/transcript";

  /** The other server returns pages of two entries, and fails after `served` of them. */
  async function exported(hide: (<T>(value: T) => T) | null, served = Number.POSITIVE_INFINITY): Promise<Response> {
    const asked: string[] = [];
    const owner = async (_run: string, { path: target }: ForwardedRequest) => {
      asked.push(target);
      const { pathname, searchParams } = new URL(target, "http://other");
      expect(pathname).toBe(path);
      const after = Number(searchParams.get("after"));
      if (asked.length > served) return { status: 404, type: "application/json", body: '{"error":{}}' };
      const page = entries.filter(({ n }) => n > after).slice(0, 2);
      return { status: 200, type: "application/json", body: JSON.stringify(page) };
    };
    const app = new Hono<Bindings>();
    const engine = { isForeign: () => true, runOfItem: () => null };
    app.get(
      "/api/orchestrator/:id/workers/:key/transcript/export",
      async (c) => (await forwardRequest(c, engine, owner, hide, null))!,
    );
    return app.request(`${path}/export`);
  }
  const linesOf = async (response: Response) => (await response.text()).trimEnd().split("\n");

  it("has all its entries, read page by page and hidden for the role view", async () => {
    const whole = await exported(null);
    expect([whole.status, whole.headers.get("content-type"), whole.headers.get("content-disposition")]).toEqual([
      200,
      "application/x-ndjson; charset=UTF-8",
      'attachment; filename="session_1.jsonl"',
    ]);
    expect((await linesOf(whole)).map((line) => JSON.parse(line))).toEqual(entries);
    const hide = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("secret", "***")) as T;
    expect((await linesOf(await exported(hide))).map((line) => JSON.parse(line).text)).toEqual(
      entries.map(({ n }) => `line ${n} with a *** ${long}`),
    );
  });

  it("is the error of the other server, or is cut off if that fails in the middle", async () => {
    expect((await exported(null, 0)).status).toBe(404);
    await expect(exported(null, 1).then((response) => response.text())).rejects.toThrow("no longer has the transcript");
  });
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

describe("an order to a run of another server", () => {
  /** A server that forwards every request about a run to that of `lab`, as servers of one database do. */
  async function inFront(lab: ServerLab): Promise<RunningServer> {
    const { engine, templates } = lab.local;
    const isForeign = new Proxy(engine, {
      get(target, name) {
        const value: unknown = name === "isForeign" ? () => true : Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    let handler: Parameters<RequestBox["serve"]>[0];
    const requests = {
      serve: (handle: typeof handler) => (handler = handle),
      ask: async (_run: string, text: string) => handler(text),
    } as unknown as RequestBox;
    serveForwarded(requests, `http://${lab.host}`, lab.token);
    const { token, tokens, automation } = lab;
    const options = { templates, token, tokens, automation, port: 0, version: "1", webRoot: null };
    return startServer({ ...options, engine: isForeign, forward: forwarderOf(requests) });
  }

  it("names no program with a token that may not do so here, although the other server gets its own token", async () => {
    const lab = await ServerLab.open();
    const front = await inFront(lab);
    try {
      const agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
      const id = await lab.create(agent);
      const { token } = lab.tokens.create({ name: "worker", role: "operate" });
      const confirm = async (role: "operate" | "admin", named: string, more: Record<string, string> = {}) => {
        const bearer = role === "admin" ? lab.bearer : { authorization: `Bearer ${token}` };
        const { status, json } = await lab.ask(`/api/orchestrator/${id}/confirm-tasks`, {
          method: "POST",
          port: front.port,
          headers: { ...bearer, ...more, "content-type": "application/json" },
          body: { modifications: { a: { agent: named } } },
        });
        return [status, json.error.code, json.error.message] as unknown[];
      };
      const program = "command:touch /tmp/evil";
      expect(await confirm("operate", program)).toEqual([403, "forbidden", expect.stringContaining("lacks the role")]);
      // The run does not wait for a confirmation: these orders got through.
      expect((await confirm("operate", "local")).slice(0, 2)).toEqual([409, "wrong_state"]);
      expect((await confirm("admin", program)).slice(0, 2)).toEqual([409, "wrong_state"]);
      // The restriction of a server beyond loopback is kept, and a client can only add one.
      const beyond = "on a server that listens beyond loopback";
      for (const [header, said] of [
        [beyond, beyond],
        ["", "lacks the role"],
      ] as const)
        expect(await confirm("admin", program, { [RESTRICT_HEADER]: header })).toEqual([
          403,
          "forbidden",
          expect.stringContaining(said),
        ]);
    } finally {
      await front.close();
      await lab.tearDown();
    }
  });
});
