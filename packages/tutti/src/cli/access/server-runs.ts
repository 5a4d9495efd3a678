import { mustExist, type RunAccess, type RunRow } from "./runs.ts";
import { watchRun } from "../run/watch-run.ts";
import { createClient, type ClientOptions } from "../../client/client.ts";
import type { FollowOptions } from "../../client/follow-events.ts";
import { toStoredEvent, type Frame } from "../../client/frame.ts";
import type { ListedRun } from "../../client/run-summary.ts";
import { fold } from "../../run/apply.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";

const PAGE = 1000;

/** Without `socket`, a server; with it, the engine of another process on this machine. */
export interface RunsAddress extends ClientOptions {
  socket?: JoinedSocket;
}

interface JoinedSocket {
  open: NonNullable<FollowOptions["open"]>;
  /** Resolves when an engine answers again. If `isOwn` then, this process acts for the runs that it follows. */
  reach: () => Promise<void>;
  isOwn: () => boolean;
  /** Whether a server continues the runs after this command. False unless `isOwn`. */
  hasServer: () => boolean;
  isFollowed: (id: string) => boolean;
  openDashboard: () => Promise<string>;
  settled: (id: string) => Promise<void>;
}

export function serverRuns(address: RunsAddress): RunAccess {
  const client = createClient(address);
  const { socket } = address;
  const activate = async (id: string): Promise<void> => {
    // A server always acts for all its runs.
    if (socket) await client.call("POST /api/orchestrator/:id/activate", { params: { id } });
  };
  const events = async (id: string, after = 0): Promise<StoredEvent[]> =>
    (await allPages((last: Frame | undefined) => client.events(id, { after: last?.seq ?? after, limit: PAGE }))).map(
      toStoredEvent,
    );

  return {
    get home() {
      if (!socket || socket.hasServer()) return "server";
      return socket.isOwn() ? "here" : "other process";
    },
    isFollowed: (id) => socket?.isFollowed(id) ?? false,
    openDashboard: async () => socket?.openDashboard() ?? dashboardAt(address),
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
    run: async (id) => mustExist(fold(null, await events(id)), id),
    events,
    copy: (id) => client.export(id),
    problems: async (id) => (await client.replay(id)).problems,
    diff: (id, { task, stat }) => client.diff(id, { task, stat: stat ? "1" : "0" }),
    transcript: (id, sessionId, after = 0) =>
      allPages((last: { n: number } | undefined) => client.transcript(id, sessionId, { after: last?.n ?? after })),
    result: (id) => client.result(id),
    watch: async (id) => watchRun(address, id, { read: (after) => events(id, after), activate: () => activate(id) }),
    create: async (request) => (await client.create(request)).orchestratorId,
    import: (text, trust) => client.import(text, trust),
    fork: (id, { at, fresh }) => client.fork(id, { fresh, ...(at !== undefined && { at }) }),
    merge: (id, options) => client.merge(id, options),
    drop: (id) => client.drop(id),
    // Each request to a server carries the hash that the user agreed to.
    agree: () => {},
    order: (id, name, ...input) => client.order(id, name, ...input),
    orderWorker: (id, sessionId, name) => client[`${name}Worker`](id, sessionId),
    overrideGate: (id, environment, reason) =>
      client.call("POST /api/orchestrator/:id/gate/override", { params: { id }, body: { environment, reason } }),
    answer: (itemId, answer) => client.answer(itemId, answer),
    activate,
    cleanup: async (id, options) => {
      await client.call("DELETE /api/orchestrator/:id", { params: { id }, body: options });
      return { removed: options.removeState };
    },
  };
}

/** The `token` in the address signs a browser in to the dashboard of a server. */
export const dashboardAt = ({ baseUrl, token }: ClientOptions): string =>
  token === undefined ? `${baseUrl}/` : `${baseUrl}/?token=${encodeURIComponent(token)}`;

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
