// Builds the dashboard unless the build is newer than all its sources. With `--into FOLDER` it also copies the build
// there, for the published package.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "packages/web");
const built = join(web, "dist/index.html");

/** The dashboard's sources: its own files, and the code that it shares with the engine. */
const SOURCES = [
  "packages/web/src",
  "packages/web/index.html",
  "packages/web/vite.config.ts",
  "packages/web/zod-types.ts",
  "packages/web/package.json",
].concat(["schema", "run", "client"].map((name) => `packages/tutti/src/${name}`));

/**
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function buildWeb() {
  const needed = Math.max(...SOURCES.map((source) => newest(join(root, source))));
  if (existsSync(built) && statSync(built).mtimeMs > needed) return;
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const result = spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], { cwd: web, stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

buildWeb();
const into = process.argv.indexOf("--into");
if (into > 0) {
  const target = join(root, process.argv[into + 1] ?? "");
  rmSync(target, { recursive: true, force: true });
  cpSync(join(web, "dist"), target, { recursive: true });
}
