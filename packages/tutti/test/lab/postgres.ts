// Gives tests databases of their own in a real PostgreSQL.
//
// All test files share one cluster, which the first of them starts. `shared-folder.ts` ends it after the last test. A cluster
// refuses to run as root, so root starts it as `nobody`.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findOrInstall, withProgram, type RequiredProgram } from "./required-program.ts";

/** `find` returns the folder with its programs. */
export const POSTGRES: RequiredProgram = {
  name: "PostgreSQL",
  packages: ["postgresql"],
  find: programs,
  advice: "PostgreSQL was not found. Install it so that initdb and pg_ctl are on PATH or in /usr/lib/postgresql.",
};

const DEBIAN = "/usr/lib/postgresql";
const NOBODY = 65_534;
/** A crash of the machine may lose the tests' data. */
const SETTINGS =
  "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c listen_addresses='' -c max_connections=200";

/** The server outlives this process, so it must not inherit the channel to the test runner. */
const STDIO: ("ignore" | "pipe")[] = [
  "ignore",
  "ignore",
  "pipe",
  ...Array.from({ length: 9 }, () => "ignore" as const),
];

export interface Cluster {
  /** The folder of the socket; the data is below it. */
  readonly folder: string;
  url(database: string): string;
  start(): void;
  /** Ends all connections and the server, without waiting for clients. */
  stop(): void;
}

export const hasPostgres = (): boolean => programs() !== null;

export const withPostgres = (act: () => Promise<void>) => withProgram(POSTGRES, act);

/** Creates an empty database in the shared cluster and returns its address. It goes away with the cluster. */
export async function newDatabase(): Promise<string> {
  const cluster = await sharedCluster();
  const name = `t_${randomBytes(6).toString("hex")}`;
  await query(cluster.url("postgres"), `CREATE DATABASE ${name}`);
  return cluster.url(name);
}

/** Runs one statement on a connection of its own. */
export async function query<T extends object>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Ends every connection to the database of `url`, as a restart of PostgreSQL does. */
export async function cutConnections(url: string): Promise<void> {
  await query(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
}

/** A cluster of the caller's own, which it may stop and start. The caller stops it in the end. */
export function newCluster(folder = mkdtempSync(join(tmpdir(), "tutti-pg-"))): Cluster {
  const bin = findOrInstall(POSTGRES);
  if (bin === null) throw new Error(POSTGRES.advice);
  const data = join(folder, "data");
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ("uid" in user) chownSync(folder, NOBODY, NOBODY);
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(bin, name), args, {
      ...user,
      cwd: folder,
      stdio: STDIO,
      // A busy machine needs more than the minute for which pg_ctl waits by default.
      env: { LC_ALL: "C", PGCTLTIMEOUT: "600" },
    });
  run("initdb", "-D", data, "-U", "tutti", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-instructions");
  return {
    folder,
    url: (database) => `postgres://tutti@${encodeURIComponent(folder)}/${database}`,
    start: () =>
      void run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "-o", `-k ${folder} ${SETTINGS}`, "start"),
    stop: () => void run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"),
  };
}

let shared: Promise<Cluster> | null = null;

const sharedCluster = (): Promise<Cluster> => (shared ??= openShared());

/** The process that creates `starting` first starts the cluster; the others wait for it. */
async function openShared(): Promise<Cluster> {
  const folder = join(process.env["TUTTI_TEST_SHARED"]!, "postgres");
  mkdirSync(folder, { recursive: true });
  const url = (database: string) => `postgres://tutti@${encodeURIComponent(folder)}/${database}`;
  try {
    mkdirSync(join(folder, "starting"));
  } catch {
    while (!existsSync(join(folder, "ready"))) {
      if (existsSync(join(folder, "failed"))) throw new Error("PostgreSQL did not start for the tests.");
      await sleep(50);
    }
    return { folder, url, start: () => {}, stop: () => {} };
  }
  try {
    const cluster = newCluster(folder);
    cluster.start();
    mkdirSync(join(folder, "ready"));
    return cluster;
  } catch (error) {
    mkdirSync(join(folder, "failed"));
    throw error;
  }
}

/** Stops the shared cluster in `folder`, if a test started it. */
export function endCluster(folder: string): void {
  const bin = programs();
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (bin && existsSync(join(folder, "ready")))
    spawnSync(join(bin, "pg_ctl"), ["-D", join(folder, "data"), "-w", "-m", "immediate", "stop"], {
      ...user,
      cwd: "/",
    });
}

function programs(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""),
    ...versions.map((version) => join(DEBIAN, version, "bin")),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl"))) ?? null;
}
