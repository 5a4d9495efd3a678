// `openHosts` gives commands without a server access to the worker hosts of a database.
import { createHostTables, listHosts } from "../../fleet/fleet.ts";
import { addHost, removeHost, setDrained, type AddedHost } from "../../fleet/manage-hosts.ts";
import type { Hosts } from "../../server/hosts.ts";
import { openDatabase } from "../../store/postgres/database.ts";

interface OpenHosts extends Hosts {
  add(name: string): Promise<AddedHost>;
  close(): Promise<void>;
}

export async function openHosts(url: string): Promise<OpenHosts> {
  const database = await openDatabase({ url });
  await createHostTables(database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return {
    list: () => listHosts(database),
    add: (name) => addHost(database, url, name),
    drain: (id) => setDrained(database, id, true),
    undrain: (id) => setDrained(database, id, false),
    remove: (id) => removeHost(database, id),
    close: () => database.close(),
  };
}
