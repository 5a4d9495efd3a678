// The servers of the peers: found, or installed if this process is root; started on free local ports in their own
// folder with full durability; stopped at the end.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";

export interface Service {
  url: string;
  version: string;
  stop: () => Promise<void>;
}

/** A string is the reason why the service is not available. */
export type Provided = Service | string;

const HOST = "127.0.0.1";
const START_MS = 30_000;
const INSTALLER = "apt-get";

export async function startRedis(folder: string): Promise<Provided> {
  const program = await provide("redis-server", [], "redis-server");
  if (program === null) return "there is no redis-server";
  const port = await freePort();
  mkdirSync(folder);
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const child = run(program, ["--bind", HOST, "--port", String(port), "--dir", folder, ...durable]);
  const version = /v=(\S+)/.exec(output(program, ["--version"]))?.[1] ?? "";
  return served(child, "redis-server", `redis://${HOST}:${port}`, `Redis ${version}`, [port]);
}

export async function startPostgres(folder: string, more: Record<string, string> = {}): Promise<Provided> {
  const program = await provide("postgres", postgresFolders(), "postgresql");
  if (program === null) return "there is no PostgreSQL";
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? ["postgres", "nobody"].find((name) => userId(name) !== null) : null;
  if (user === undefined) return "PostgreSQL does not run as root, and no other user was found";
  mkdirSync(folder);
  if (user !== null) {
    chownSync(folder, userId(user)!, -1);
    // The other user must be able to enter the folder above.
    chmodSync(dirname(folder), 0o711);
  }
  const data = join(folder, "data");
  const as = (command: string, args: string[]): [string, string[]] =>
    user === null ? [command, args] : ["setpriv", [`--reuid=${user}`, "--clear-groups", command, ...args]];
  const initdb = join(program, "../initdb");
  const made = spawnSync(...as(initdb, ["-D", data, "-A", "trust", "-U", "bench"]), { encoding: "utf8", cwd: folder });
  if (made.status !== 0) return `initdb failed: ${(made.stderr ?? "").trim().split("\n").at(-1)}`;
  const port = await freePort();
  const settings = { listen_addresses: HOST, unix_socket_directories: "", fsync: "on", synchronous_commit: "on" };
  const flags = Object.entries({ ...settings, ...more }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = run(...as(program, ["-D", data, "-p", String(port), ...flags]), folder);
  const version = /\d+(\.\d+)*/.exec(output(program, ["--version"]))?.[0] ?? "";
  const provided = await served(child, "PostgreSQL", `postgresql://bench@${HOST}:${port}`, `PostgreSQL ${version}`, [
    port,
  ]);
  // Its port answers before it accepts a login.
  const isReady = join(program, "../pg_isready");
  while (spawnSync(isReady, ["-h", HOST, "-p", String(port)]).status === 1) await wait(50);
  return provided;
}

export async function startRestate(folder: string, packages: string): Promise<Provided> {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = join(packages, "node_modules", name, "bin/restate-server");
  if (!existsSync(program)) return `there is no ${name}`;
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  mkdirSync(folder);
  const env = {
    RESTATE_BASE_DIR: folder,
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_IP: HOST,
    RESTATE_BIND_PORT: String(node),
    RESTATE_ADVERTISED_HOST: HOST,
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_FILTER: "error",
  };
  const child = run(program, ["--no-logo"], folder, env);
  const version = /\d+\.\d+\.\d+/.exec(output(program, ["--version"]))?.[0] ?? "";
  const url = `http://${HOST}:${ingress} http://${HOST}:${admin}`;
  return served(child, "restate-server", url, `restate-server ${version}`, [ingress, admin]);
}

function run(command: string, args: string[], cwd?: string, env: Record<string, string> = {}): ChildProcess {
  return spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env }, ...(cwd ? { cwd } : {}) });
}

async function served(
  child: ChildProcess,
  name: string,
  url: string,
  version: string,
  ports: number[],
): Promise<Provided> {
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  child.once("error", () => resolve());
  child.once("exit", () => resolve());
  const stop = async (): Promise<void> => {
    // PostgreSQL closes its sessions at once on SIGINT. The others shut down in order on it too.
    child.kill("SIGINT");
    await Promise.race([exited, wait(5000)]);
    child.kill("SIGKILL");
    await exited;
  };
  const until = performance.now() + START_MS;
  for (const port of ports) {
    while (!(await answers(port))) {
      if (child.exitCode !== null || performance.now() > until) {
        await stop();
        return `${name} did not start`;
      }
      await wait(50);
    }
  }
  return { url, version, stop };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const say = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => say(true));
    socket.once("error", () => say(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

const output = (command: string, args: string[]): string => spawnSync(command, args, { encoding: "utf8" }).stdout ?? "";

/** Installs from `debianPackage` if the program is missing and this process is root. */
async function provide(program: string, folders: string[], debianPackage: string): Promise<string | null> {
  const found = find(program, folders);
  if (found !== null || process.getuid?.() !== 0 || find(INSTALLER, []) === null) return found;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync(INSTALLER, ["update"], { stdio: "ignore", env });
  spawnSync(INSTALLER, ["install", "-y", debianPackage], { stdio: "ignore", env });
  return find(program, program === "postgres" ? postgresFolders() : folders);
}

function find(program: string, folders: string[]): string | null {
  const places = [...folders, ...(process.env["PATH"] ?? "").split(delimiter)];
  return places.map((folder) => join(folder, program)).find((file) => existsSync(file)) ?? null;
}

/** Debian keeps each version of PostgreSQL in its own folder outside the path. Newest first. */
function postgresFolders(): string[] {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, "bin"));
}

function userId(name: string): number | null {
  const text = output("id", ["-u", name]).trim();
  return text === "" ? null : Number(text);
}
