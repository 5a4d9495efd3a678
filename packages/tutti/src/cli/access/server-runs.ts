import type { RunRow, RunAccess } from "./runs.ts";
import { watchRun } from "../run/watch-run.ts";
import { createClient, type ClientOptions } from "../../client/client.ts";
import { toStoredEvent, type Frame } from "../../client/frame.ts";
import type { ListedRun } from "../../client/run-summary.ts";
import { fold } from "../../run/apply.ts";
import { TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";

const PAGE = 1000;

export function serverRuns(address: ClientOptions): RunAccess {
  const client = createClient(address);
  const then = async (order: Promise<unknown>): Promise<void> => void (await order);

  const events = async (id: string, after = 0): Promise<StoredEvent[]> =>
    (await allPages((last: Frame | undefined) => client.events(id, { after: last?.seq ?? after, limit: PAGE }))).map(
      toStoredEvent,
    );
  const run = async (id: string): Promise<Run> => {
    const folded = fold(null, await events(id));
    if (folded === null)
      throw new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with "tutti list".`);
    return folded;
  };

  return {
    outlives: true,
    rows: async () =>
      (
        await allPages((last: ListedRun | undefined) => client.list({ limit: PAGE, ...(last && { after: last.id }) }))
      ).map((row): RunRow => ({ ...row, createdAt: Date.parse(row.createdAt), updatedAt: Date.parse(row.updatedAt) })),
    inbox: async () =>
      (
        await allPages((last: { id: string } | undefined) =>
          client.inbox({ limit: PAGE, ...(last && { after: last.id }) }),
        )
      ).map((item) => ({ ...item, ...times(item) }) as InboxItem),
    run,
    events,
    copy: (id) => client.export(id),
    problems: async (id) => (await client.replay(id)).problems,
    transcript: (id, sessionId, after = 0) =>
      allPages((last: { n: number } | undefined) => client.transcript(id, sessionId, { after: last?.n ?? after })),
    result: (id) => client.result(id),
    watch: async (id) => watchRun(address, id, (after) => events(id, after)),
    create: async (request) => (await client.create(request)).orchestratorId,
    import: (text, trust) => client.import(text, trust),
    fork: (id, { at, fresh }) => client.fork(id, { fresh, ...(at !== undefined && { at }) }),
    // Each request to a server carries the hash that the user agreed to.
    agree: () => {},
    start: (id) => then(client.start(id)),
    // A server always acts for all its runs.
    takeUp: async () => {},
    pause: (id) => then(client.pause(id)),
    resume: (id) => then(client.resume(id)),
    cancel: (id) => then(client.cancel(id)),
    confirm: (id, changes) => then(client.confirm(id, changes)),
    retry: (id, taskId) => then(client.retry(id, taskId)),
    message: (id, text, taskId) => then(client.message(id, text, taskId)),
    answer: (itemId, answer) => then(client.answer(itemId, answer)),
    cleanup: async (id, options) => {
      await client.call("DELETE /api/orchestrator/:id", { params: { id }, body: options });
      return { removed: options.removeState };
    },
  };
}

async function allPages<T>(page: (last: T | undefined) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const more = await page(found.at(-1));
    if (more.length === 0) return found;
    found.push(...more);
  }
}

const times = (item: { createdAt: string; expiresAt?: string | undefined }) => ({
  createdAt: Date.parse(item.createdAt),
  ...(item.expiresAt === undefined ? {} : { expiresAt: Date.parse(item.expiresAt) }),
});
