// Finds a browser for the tests: one on `PATH`, or Debian's packages, which it installs as root. Without one the tests
// are skipped, and with `CI=true` they fail.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

/** It has no windows of its own to draw, which saves a third of the processor time, and no notifications. */
const SHELL = "chromium-headless-shell";
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

const APT = "/usr/bin/apt-get";

/** Among others, these turn off the browser's own network requests. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const NO_BROWSER =
  "No browser was found. Set CHROME_PATH, or install Chromium, Chrome or Edge so that it is on PATH.";

/** With `windows`, a browser that a person could use. */
export function findBrowser({ windows = false } = {}): string | null {
  const named = process.env["CHROME_PATH"];
  if (named) return named;
  const names = windows ? BROWSERS : [SHELL, ...BROWSERS];
  return onPath(names) ?? (installBrowsers() ? onPath(names) : null);
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

function onPath(names: readonly string[]): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installBrowsers(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(APT)) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync(APT, args, { env, stdio: "ignore" }).status === 0;
  const packages = [SHELL, BROWSERS[0]!];
  return apt("update") && apt("install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", ...packages);
}
