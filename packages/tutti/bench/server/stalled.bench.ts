// Clients that never read, on a log of 100 MB: the memory of the server, and how long another client waits for an answer.
// The baseline is the same server, with the same log, before they connect. The clients ask for all events, for events
// from 200 different places, for the whole states of all runs, and for the state of one run as a whole.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "../../src/client/client.ts";

const CLIENTS = 200;
const RUNS = 110;
const REQUEST = "x".repeat(900_000);
const WATCH_MS = 30_000;
const MAX_RSS_MB = 400;
const MAX_ANSWER_MS = 200;
const STALLED: Record<string, (client: number) => string> = {
  "all events": () => "/api/events?after=0",
  "events from different places": (client) => `/api/events?after=${client}`,
  "whole states": () => "/api/orchestrator?full=1",
  "one state": () => `/api/orchestrator/${run}/snapshot`,
};
let run = "";

const folder = mkdtempSync(join(tmpdir(), "tutti-stalled-"));
const repo = join(folder, "repo");
const git = (...args: string[]) =>
  spawnSync("git", ["-C", repo, "-c", "user.name=Bench", "-c", "user.email=bench@example.org", ...args]);
spawnSync("git", ["init", "--quiet", repo]);
writeFileSync(join(repo, "README.md"), "# Bench\n");
git("add", ".");
git("commit", "--quiet", "--message", "First");

const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
const serve = ["serve", "--port", "0", "--data-dir", join(folder, "data"), "--log-level", "error"];
const server = spawn(process.execPath, [program, ...serve], { stdio: ["ignore", "pipe", "inherit"] });
const sockets: Socket[] = [];
try {
  const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const url = new URL(/http:\S+/.exec(line)![0]);
  const token = url.searchParams.get("token")!;
  const client = createClient({ baseUrl: url.origin, token });
  for (let i = 0; i < RUNS; i++)
    run = (await client.create({ templateId: "documentation", cwd: repo, message: REQUEST, agent: "local" }))
      .orchestratorId;
  const quiet = await watch(client.inbox);
  const head = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream`;
  let isFine = true;
  for (const [name, pathOf] of Object.entries(STALLED)) {
    for (let i = 0; i < CLIENTS; i++) {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {});
      socket.write(`GET ${pathOf(i)} HTTP/1.1\r\n${head}\r\n\r\n`);
      sockets.push(socket);
    }
    const stalled = await watch(client.inbox);
    for (const socket of sockets.splice(0)) socket.destroy();
    console.log(`${CLIENTS} stalled clients, ${name}: ${stalled.rss} MB, slowest answer ${stalled.slowest} ms`);
    isFine &&= stalled.rss < MAX_RSS_MB && stalled.slowest < MAX_ANSWER_MS;
  }
  console.log(`without clients: ${quiet.rss} MB, slowest answer ${quiet.slowest} ms`);
  console.log(`${isFine ? "ok" : "FAIL"}: below ${MAX_RSS_MB} MB and ${MAX_ANSWER_MS} ms`);
  if (!isFine) process.exitCode = 1;
} finally {
  for (const socket of sockets) socket.destroy();
  server.kill("SIGTERM");
  if (server.exitCode === null) await once(server, "exit");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The peak of the server's memory and of the time of an answer. */
async function watch(ask: () => Promise<unknown>): Promise<{ rss: number; slowest: number }> {
  let [rss, slowest] = [0, 0];
  for (const end = performance.now() + WATCH_MS; performance.now() < end;) {
    const asked = performance.now();
    await ask();
    slowest = Math.max(slowest, Math.round(performance.now() - asked));
    const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
    rss = Math.max(rss, Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024));
    await sleep(20);
  }
  return { rss, slowest };
}
