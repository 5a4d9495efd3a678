// Each command uses the routes of the server, or with `databaseUrl` the database itself.
import { findAddress } from "../access/find-address.ts";
import type { Output } from "../terminal/output.ts";
import { createCall } from "../../client/call-route.ts";
import { openHosts } from "../../main/fleet/hosts.ts";
import type { HostRow } from "../../schema/api/host-routes.ts";
import { TuttiError } from "../../schema/error.ts";

interface HostFlags {
  databaseUrl?: string;
}

interface HostSource {
  list(): Promise<HostRow[]>;
  drain(id: string): Promise<unknown>;
  undrain(id: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

async function withSource<T>(
  output: Output,
  { databaseUrl }: HostFlags,
  work: (source: HostSource) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== undefined) {
    const hosts = await openHosts(databaseUrl);
    try {
      return await work(hosts);
    } finally {
      await hosts.close();
    }
  }
  const address = await findAddress(output);
  if (!address)
    throw new TuttiError("usage", "No server runs on this data folder. Name one with --url, or pass --database-url.");
  const call = createCall(address);
  return work({
    list: () => call("GET /api/hosts"),
    drain: (id) => call("POST /api/hosts/:id/drain", { params: { id } }),
    undrain: (id) => call("DELETE /api/hosts/:id/drain", { params: { id } }),
    remove: (id) => call("DELETE /api/hosts/:id", { params: { id } }),
  });
}

export async function list(output: Output, flags: HostFlags): Promise<number> {
  const rows = await withSource(output, flags, (source) => source.list());
  output.value(rows);
  for (const row of rows) output.result(describeHost(row));
  if (rows.length === 0) output.line('No worker hosts. Start one with "tutti worker --database-url URL".');
  return 0;
}

function describeHost({ id, name, labels, capacity, sessions, state, tasks, version }: HostRow): string {
  const offered = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parts = [id, name, state, `${sessions} of ${capacity}`, ...offered, version, tasks.join(" ")];
  return parts.filter((part) => part !== "").join("  ");
}

export async function add(output: Output, name: string, { databaseUrl }: Required<HostFlags>): Promise<number> {
  if (!/^[a-z0-9][a-z0-9_-]{0,39}$/.test(name))
    throw new TuttiError("usage", `The name "${name}" is not 1 to 40 of a-z, 0-9, _ and -. Choose another.`);
  const hosts = await openHosts(databaseUrl);
  try {
    const added = await hosts.add(name);
    output.value(added);
    output.result(added.url);
    output.line("Store this address now: it is not shown again. Pass it to the worker as --database-url.");
    return 0;
  } finally {
    await hosts.close();
  }
}

const changeHost =
  (change: "drain" | "undrain" | "remove", result: string) =>
  async (output: Output, id: string, flags: HostFlags): Promise<number> => {
    await withSource(output, flags, (source) => source[change](id));
    output.value({ success: true });
    output.result(`${id} ${result}`);
    return 0;
  };

export const drain = changeHost("drain", "takes no more work");
export const undrain = changeHost("undrain", "takes work again");
export const remove = changeHost("remove", "is removed");
