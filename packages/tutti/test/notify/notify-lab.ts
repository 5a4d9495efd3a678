// Fixtures for the notification tests: a log of real events in a real store, and a webhook that records its requests.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NotifiedRuns } from "../../src/notify/notifier.ts";
import type { OutgoingNotification } from "../../src/notify/target.ts";
import { apply, fold } from "../../src/run/apply.ts";
import type { RunEvent, StoredEvent } from "../../src/schema/event.ts";
import type { InboxItem } from "../../src/schema/inbox.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import { makeTemplate } from "../run/make-run.ts";

export const RUN = "orch_000000000001";

export const item = (id: string, more: Partial<InboxItem> = {}): RunEvent => ({
  type: "inbox:added",
  data: {
    id: RUN,
    item: {
      id,
      kind: "question",
      run: RUN,
      taskId: "one",
      sessionId: null,
      askId: null,
      question: `what about ${id}?`,
      risk: "low",
      hash: "h",
      createdAt: 0,
      ...more,
    },
  },
});

export const answered = (itemId: string): RunEvent => ({
  type: "inbox:answered",
  data: { id: RUN, itemId, text: "yes", withdrawn: false },
});

export const failed: RunEvent = {
  type: "orchestrator:error",
  data: { id: RUN, operation: "analysis", error: "no answer", timestamp: "", fatal: true, code: "internal" },
};

export const created = (id = RUN): RunEvent => ({
  type: "orchestrator:created",
  data: {
    id,
    templateId: "test",
    cwd: "/repo",
    status: "created",
    template: makeTemplate(),
    userRequest: "do it",
    customVariables: {},
    agent: "local",
  },
});

/** A log with the engine's behaviour: `add` stores and folds the events, then publishes them to the subscribers. */
export class NotifiedLog implements NotifiedRuns {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-notify-"));
  readonly file = join(this.folder, "notified.json");
  readonly store = new MemoryStore();
  readonly #runs = new Map<string, Run>();
  readonly #listeners = new Set<(event: StoredEvent, run: Run | null) => void>();

  /** Appends the events with a timestamp `agoMs` in the past. */
  async add(events: RunEvent[], { agoMs = 5000, run = RUN } = {}): Promise<StoredEvent[]> {
    const timestamp = Date.now() - agoMs;
    const previous = this.#runs.get(run) ?? null;
    const stamped = events.map((event) => ({ ...event, timestamp }));
    const stored = await this.store.append(run, previous?.runSeq ?? 0, stamped);
    const current = previous === null ? fold(null, stored)! : stored.reduce(apply, previous);
    this.#runs.set(run, current);
    for (const event of stored) for (const listener of this.#listeners) listener(event, current);
    return stored;
  }

  events(options: Parameters<NotifiedRuns["events"]>[0]): StoredEvent[] {
    return this.store.read(options);
  }

  get(id: string): Run | null {
    return this.#runs.get(id) ?? null;
  }

  lastSeq(): number {
    return this.store.lastSeq();
  }

  subscribe(listener: (event: StoredEvent, run: Run | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const outgoing = (more: Partial<OutgoingNotification> = {}): OutgoingNotification => ({
  id: `${RUN}:7`,
  kind: "needs_person",
  run: RUN,
  taskId: "one",
  title: "one asks",
  text: "which colour?",
  request: "do it",
  at: 0,
  item: { id: "item_1", kind: "question", risk: "low" },
  outcome: null,
  url: null,
  ...more,
});

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Starts a webhook on this machine. `answer` responds to each request; `number` counts requests from 1. */
export async function startWebhook(answer: (response: ServerResponse, number: number) => void = (r) => void r.end()) {
  const received: Received[] = [];
  let wake = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ path: request.url!, headers: request.headers, body });
      answer(response, received.length);
      wake.resolve();
      wake = Promise.withResolvers();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    port,
    url: `http://127.0.0.1:${port}/hook`,
    /** Resolves after `count` requests. It has no timeout of its own: the test's time limit applies. */
    async until(count: number): Promise<void> {
      while (received.length < count) await wake.promise;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
