// The routes that export, import, replay and fork a run's log.
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { startServer } from "../../src/server/start-server.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab, VERSION } from "./server-lab.ts";

const IMPORT = "/api/orchestrator/import";
const MIB = 1024 * 1024;
let lab: ServerLab;
let ended: string;
let copies = 0;
beforeAll(async () => {
  lab = await ServerLab.open();
  const agent = lab.lab.scenario([...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]);
  ended = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(ended, ({ released }) => released);
});
afterAll(() => lab.tearDown());

const newId = () => `orch_copy${String(++copies).padStart(8, "0")}`;
/** The export of the ended run under another id. */
const copyAs = async (id: string) => (await lab.api(`/api/orchestrator/${ended}/export`)).text.replaceAll(ended, id);
const harmless = (text: string) => text.replaceAll(/"script:[^"]*"/g, '"local"');

/** The response to a request that declares the length of its body and sends none. */
async function statusAnnounced(length: number): Promise<number | undefined> {
  const headers = { ...lab.bearer, "content-length": length };
  const asking = request({ host: "127.0.0.1", port: lab.server.port, path: IMPORT, method: "POST", headers });
  asking.flushHeaders();
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  asking.on("error", () => {}).destroy();
  return response.statusCode;
}

describe("an export", () => {
  it("is the log of the run as a file download", async () => {
    const { status, headers, text } = await lab.api(`/api/orchestrator/${ended}/export`);
    expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson; charset=UTF-8"]);
    expect(headers["content-disposition"]).toBe(`attachment; filename="${ended}.jsonl"`);
    const [head, ...events] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({ tutti: "run", run: ended });
    const stored = lab.engine.events({ run: ended });
    expect(events).toEqual(stored.map(({ runSeq, type, data, timestamp }) => ({ runSeq, type, data, timestamp })));
  });
});

describe("a large export", () => {
  it("is read from the log only as the client reads it", async () => {
    const message = "x".repeat(900 * 1024);
    const { id } = await lab.engine.create({ templateId: "documentation", cwd: lab.lab.repo, message, agent: "local" });
    const total = 40;
    for (let i = 1; i < total; i++) await lab.engine.order(id, "message", { text: message });
    const readEvents = lab.engine.readEvents.bind(lab.engine);
    let read = 0;
    const counting = vi.spyOn(lab.engine, "readEvents").mockImplementation(function* (range) {
      for (const event of readEvents(range)) {
        read += 1;
        yield event;
      }
    });
    try {
      const response = await lab.open(`/api/orchestrator/${id}/export`, { headers: lab.bearer });
      response.pause();
      // The buffers of both sides hold a part of the 36 MB.
      expect(read).toBeLessThan(total / 2);
      const lines = (await response.toArray()).join("").trimEnd().split("\n");
      expect([read, lines.length]).toEqual([total, total + 1]);
    } finally {
      counting.mockRestore();
    }
  });
});

describe("a page of large events", () => {
  it("ends at about 8 MiB, and the next one continues", async () => {
    const text = "x".repeat(900 * 1024);
    const { id } = await lab.engine.create({
      templateId: "documentation",
      cwd: lab.lab.repo,
      message: text,
      agent: "local",
    });
    for (let i = 1; i < 12; i++) await lab.engine.order(id, "message", { text });
    const pages: number[] = [];
    let after = 0;
    for (;;) {
      const page = (await lab.api(`/api/orchestrator/${id}/events?after=${after}`)).json as { seq: number }[];
      if (page.length === 0) break;
      pages.push(page.length);
      after = page.at(-1)!.seq;
    }
    expect(pages).toEqual([10, 2]);
    const { json } = await lab.api(`/api/orchestrator/${id}/events?tail=100`);
    expect(json.length).toBeLessThan(12);
  });
});

describe("an import", () => {
  it("rejects a line with too many values", async () => {
    const [head, first] = (await copyAs(newId())).split("\n");
    const wide = first!.replace('"data":{', `"data":{"list":[${"1,".repeat(1_000_000)}1],`);
    const { status, json } = await lab.post(IMPORT, [head, wide].join("\n"));
    expect([status, json.error.message]).toEqual([
      400,
      "Line 2 cannot be imported. The JSON has more than 1000000 values. Send fewer.",
    ]);
  });

  it("needs trust in the programs of the run, and then restores the run unchanged", async () => {
    const id = newId();
    const text = await copyAs(id);
    const refused = await lab.post(IMPORT, text);
    expect([refused.status, refused.json.error.code]).toEqual([403, "needs_trust"]);
    expect((await lab.api(`/api/orchestrator/${id}`)).status).toBe(404);
    const { hash } = refused.json.error.details;
    const { status, json } = await lab.post(`${IMPORT}?trust=${hash}`, text);
    expect([status, json]).toMatchObject([201, [{ id, status: "completed", outcome: "success" }]]);
    const { tasks, workerStates } = (await lab.api(`/api/orchestrator/${ended}`)).json;
    expect(json[0].tasks).toEqual(tasks);
    expect(Object.keys(json[0].workerStates)).toEqual(Object.keys(workerStates));
    expect((await lab.api(`/api/orchestrator/${id}`)).json).toEqual(json[0]);
  });

  it("accepts an old state file", async () => {
    const state = { id: newId(), templateId: "custom", cwd: lab.lab.repo, userRequest: "as it was", tasks: [] };
    const { status, json } = await lab.post(IMPORT, JSON.stringify({ orchestrators: [state] }));
    expect([status, json]).toMatchObject([201, [{ id: state.id, status: "paused", userRequest: "as it was" }]]);
    const twice = await lab.post(
      IMPORT,
      JSON.stringify([{ ...state, id: "orch_twiceinafile" }].flatMap((x) => [x, x])),
    );
    expect([twice.status, twice.json.error.code]).toEqual([400, "invalid_input"]);
  });

  it.each([
    ["nothing", async () => "", "The body is invalid"],
    ["no text", async () => Buffer.from([0xff, 0xfe]), "not valid UTF-8 text"],
    ["a line that is missing", async () => (await copyAs(newId())).replace(/\n.*\n/, "\n"), "Event 1 is missing."],
    [
      "the events of another run",
      async () => (await copyAs(newId())).replace(/"run":"[^"]*"/, '"run":"orch_somebodyelse"'),
      'The event does not belong to run "orch_somebodyelse".',
    ],
  ])("of %s returns 400 and changes nothing", async (_, body, message) => {
    const seqBefore = lab.engine.lastSeq();
    const { status, json } = await lab.post(IMPORT, await body());
    expect([status, json.error.code, json.error.message]).toEqual([
      400,
      "invalid_input",
      expect.stringContaining(message),
    ]);
    expect(lab.engine.lastSeq()).toBe(seqBefore);
  });

  it("of an existing run returns 409, also if both requests arrive at once", async () => {
    const id = newId();
    const text = harmless(await copyAs(id));
    const both = await Promise.all([lab.post(IMPORT, text), lab.post(IMPORT, text)]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect((await lab.post(IMPORT, text)).json.error.code).toBe("wrong_state");
    // Other runs are not affected.
    expect((await lab.post(IMPORT, harmless(await copyAs(newId())))).status).toBe(201);
  });

  it("may have a body of 32 MiB, other routes 1 MiB; more returns 413, with and without a Content-Length", async () => {
    const long = `${harmless(await copyAs(newId()))}${" ".repeat(2 * MIB)}\n`;
    expect((await lab.post(IMPORT, long)).status).toBe(201);
    const tooLong = " ".repeat(32 * MIB + 1);
    const client = createClient({ baseUrl: lab.server.url, token: lab.token });
    const refusal = {
      status: 413,
      code: "payload_too_large",
      message: "The body is larger than 32 MiB. Send a smaller one.",
    };
    expect(await statusAnnounced(tooLong.length)).toBe(413);
    const silent = createClient({
      baseUrl: lab.server.url,
      token: lab.token,
      fetch: (url, init) =>
        fetch(url, { ...init, body: Readable.toWeb(Readable.from([tooLong])), duplex: "half" } as never),
    });
    await expect(silent.import(tooLong)).rejects.toMatchObject(refusal);
    await expect(client.order(ended, "message", { text: "x".repeat(2 * MIB) })).rejects.toMatchObject({ status: 413 });
  });

  it("rejects a run in a folder that the server does not allow", async () => {
    const { engine, templates } = lab.local;
    const { token, tokens } = lab;
    const allowed = join(lab.lab.folder, "allowed");
    mkdirSync(allowed);
    const serverOptions = { engine, templates, token, tokens, port: 0, version: VERSION, webRoot: null };
    const narrow = await startServer({ ...serverOptions, folders: [allowed] });
    const inRepository = await startServer({ ...serverOptions, folders: [join(lab.lab.repo, "docs")] });
    try {
      const text = harmless(await copyAs(newId()));
      const post = (port: number, body: string) => lab.api(IMPORT, { method: "POST", body, port });
      expect(await post(narrow.port, text)).toMatchObject({ status: 403, json: { error: { code: "forbidden" } } });
      // The folder is allowed, but its repository is not.
      mkdirSync(join(lab.lab.repo, "docs"), { recursive: true });
      const below = text.replaceAll(JSON.stringify(lab.lab.repo), JSON.stringify(join(lab.lab.repo, "docs")));
      expect((await post(inRepository.port, below)).status).toBe(403);
      const elsewhere = text.replaceAll(JSON.stringify(lab.lab.repo), JSON.stringify(join(allowed, "gone")));
      expect((await post(narrow.port, elsewhere)).status).toBe(201);
    } finally {
      await narrow.close();
      await inRepository.close();
    }
  });

  it("accepts no trust beyond loopback", async () => {
    const { engine, templates } = lab.local;
    const { token, tokens } = lab;
    const serverOptions = { engine, templates, token, tokens, port: 0, version: VERSION, webRoot: null };
    const open = await startServer({ ...serverOptions, host: "0.0.0.0", explicitToken: true });
    try {
      const text = await copyAs(newId());
      const post = (query: string) => lab.api(`${IMPORT}${query}`, { method: "POST", body: text, port: open.port });
      const { hash } = (await post("")).json.error.details;
      expect(await post(`?trust=${hash}`)).toMatchObject({ status: 403, json: { error: { code: "forbidden" } } });
    } finally {
      await open.close();
    }
  });
});

describe("a fork", () => {
  it("is a new run with the events of another, which continues when it is resumed", async () => {
    const at = lab.engine.events({ run: ended }).find(({ type }) => type === "workspace:merged")!.runSeq;
    const { status, json } = await lab.post(`/api/orchestrator/${ended}/fork`, { at });
    expect([status, json.status]).toEqual([201, "paused"]);
    expect(json.id).not.toBe(ended);
    expect((await lab.post(`/api/orchestrator/${json.id}/resume`)).status).toBe(200);
    const { outcome } = await lab.until(json.id, ({ released }) => released);
    expect(outcome).toBe("success");
    const of = lab.engine.events({ run: json.id }).find(({ type }) => type === "orchestrator:forked")!;
    expect(of.data).toMatchObject({ from: ended });
  });

  it("continues after the last event by default, and returns 422 for an unknown event", async () => {
    expect(await lab.post(`/api/orchestrator/${ended}/fork`)).toMatchObject({
      status: 201,
      json: { status: "completed" },
    });
    const refused = await lab.post(`/api/orchestrator/${ended}/fork`, { at: 9999 });
    expect([refused.status, refused.json.error.code]).toEqual([422, "event_not_found"]);
    expect((await lab.post(`/api/orchestrator/${ended}/fork`, { at: 0 })).status).toBe(400);
    expect((await lab.post(`/api/orchestrator/orch_nobody/fork`)).status).toBe(404);
  });
});

describe("a replay", () => {
  it("validates the log of open and ended runs, and returns the status after a given event", async () => {
    const created = await lab.create("local");
    for (const id of [ended, created]) {
      const { status, events, problems } = (await lab.api(`/api/orchestrator/${id}/replay`)).json;
      expect([status, events, problems]).toEqual([
        lab.engine.get(id)!.status,
        lab.engine.events({ run: id }).length,
        [],
      ]);
    }
    const first = await lab.api(`/api/orchestrator/${ended}/replay?until=1`);
    expect(first.json).toEqual({ id: ended, events: 1, status: "created", problems: [] });
    const beyond = await lab.api(`/api/orchestrator/${ended}/replay?until=9999`);
    expect([beyond.status, beyond.json.error.code]).toEqual([422, "event_not_found"]);
  });
});
