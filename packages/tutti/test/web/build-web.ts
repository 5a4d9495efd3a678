// Builds the dashboard if its sources are newer than the last build.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "../../../..");
const web = join(root, "packages/web");
const SOURCES = [
  ...["src", "public", "index.html", "vite.config.ts", "zod-types.ts", "package.json"].map((name) => join(web, name)),
  ...["schema", "run", "client", "sentence.ts"].map((name) => join(root, "packages/tutti/src", name)),
];
const LOCK = join(root, "node_modules/.tutti-web-build");

export const webRoot = join(web, "dist");

/** Test files run in parallel, and only one of them may build. */
export async function buildWeb(): Promise<void> {
  while (!isFresh()) {
    if (!lock()) {
      await sleep(200);
      continue;
    }
    try {
      if (!isBuilt()) build();
    } finally {
      rmSync(LOCK, { force: true });
    }
  }
}

const isFresh = (): boolean => isBuilt() && !existsSync(LOCK);

function isBuilt(): boolean {
  // A build of another process may remove the page at any time.
  const page = statSync(join(webRoot, "index.html"), { throwIfNoEntry: false });
  return page !== undefined && SOURCES.every((path) => newest(path) <= page.mtimeMs);
}

function newest(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Acquires the lock. A lock of a dead process is removed, and the next call acquires it. */
function lock(): boolean {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (isOrphaned()) rmSync(LOCK, { force: true });
    return false;
  }
}

function isOrphaned(): boolean {
  try {
    const builder = Number(readFileSync(LOCK, "utf8"));
    // The builder has created the file but not yet written its pid.
    if (builder === 0) return false;
    process.kill(builder, 0);
    return false;
  } catch {
    return true;
  }
}

function build(): void {
  // Vitest sets `NODE_ENV` to `test`, with which React would build its slower development mode.
  const env = { ...process.env, NODE_ENV: "production" };
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [vite, "build"], { cwd: web, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`The dashboard cannot be built:\n${stdout}${stderr}`);
}
