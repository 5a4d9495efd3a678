import { randomBytes, randomUUID } from "node:crypto";
import { HOST_CHANNEL, HOST_FUNCTIONS, REPORTS } from "./host-tables.ts";
import { TuttiError } from "../schema/error.ts";
import type { Database } from "../store/postgres/database.ts";

export interface AddedHost {
  id: string;
  name: string;
  /** The address for the worker, with the password of its login. */
  url: string;
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Creates a login that may call `HOST_FUNCTIONS` and nothing else. Throws unless `database` may create roles. */
export async function addHost(database: Database, ownerUrl: string, name: string): Promise<AddedHost> {
  const id = `host_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const login = `tutti_${id}`;
  const password = randomBytes(24).toString("base64url");
  await database.transaction("add a host", async (client) => {
    await client.query("LOCK TABLE tutti_hosts.host IN SHARE ROW EXCLUSIVE MODE");
    const taken = await client.query("SELECT 1 FROM tutti_hosts.host WHERE name = $1 AND NOT removed", [name]);
    if (taken.rows.length > 0)
      throw new TuttiError("wrong_state", `A host "${name}" exists already. Remove it first, or choose another name.`);
    const may = await client.query<{ may: boolean }>(
      "SELECT rolcreaterole OR rolsuper AS may FROM pg_roles WHERE rolname = current_user",
    );
    if (!may.rows[0]?.may)
      throw new TuttiError(
        "database_refused",
        'The login of --database-url may not create roles. Grant it with "ALTER ROLE … CREATEROLE", or use another.',
      );
    // `password` consists of letters, digits, - and _, so it needs no escape.
    await client.query(`CREATE ROLE ${quoteName(login)} LOGIN PASSWORD '${password}' NOINHERIT`);
    const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
    await client.query(`GRANT CONNECT ON DATABASE ${quoteName(rows[0]!.name)} TO ${quoteName(login)}`);
    await client.query(`GRANT USAGE ON SCHEMA tutti_hosts TO ${quoteName(login)}`);
    for (const signature of HOST_FUNCTIONS)
      await client.query(`GRANT EXECUTE ON FUNCTION tutti_hosts.${signature} TO ${quoteName(login)}`);
    await client.query("INSERT INTO tutti_hosts.host (id, name, login) VALUES ($1, $2, $3)", [id, name, login]);
  });
  const url = new URL(ownerUrl);
  url.username = login;
  url.password = password;
  return { id, name, url: url.href };
}

/** With `drained` the host gets no more work, also after a restart. */
export async function setDrained({ pool }: Database, idOrName: string, drained: boolean): Promise<void> {
  const { rowCount } = await pool.query(
    "UPDATE tutti_hosts.host SET drained = $2 WHERE (id = $1 OR name = $1) AND NOT removed",
    [idOrName, drained],
  );
  if (rowCount === 0) throw notFound(idOrName);
}

/** Revokes the login. The attempts of the host are over at once, and its worker ends at its next call. */
export async function removeHost(database: Database, idOrName: string): Promise<void> {
  await database.transaction("remove a host", async (client) => {
    const { rows } = await client.query<{ id: string; login: string | null }>(
      "UPDATE tutti_hosts.host SET removed = true WHERE (id = $1 OR name = $1) AND NOT removed RETURNING id, login",
      [idOrName],
    );
    if (rows.length === 0) throw notFound(idOrName);
    for (const { id, login } of rows) {
      await client.query(
        `WITH ended AS (UPDATE tutti_hosts.attempt SET state = 'over', reason = 'its host was removed'
                         WHERE host = $1 AND state = 'held' RETURNING key)
         SELECT pg_notify('${REPORTS}', key) FROM ended`,
        [id],
      );
      await client.query("SELECT pg_notify($1, '')", [`${HOST_CHANNEL}${id}`]);
      if (login === null) continue;
      // The role stays for open connections, to which `own_host` reports that the host is removed.
      await client.query(`ALTER ROLE ${quoteName(login)} NOLOGIN PASSWORD NULL`);
    }
  });
}

const notFound = (idOrName: string): TuttiError =>
  new TuttiError("host_not_found", `The host "${idOrName}" does not exist. List hosts with "tutti hosts".`);
