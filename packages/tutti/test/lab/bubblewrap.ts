// Finds bubblewrap, or installs it with apt if this process runs as root. Without it the tests are skipped with a reason,
// or fail in CI.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestContext } from "vitest";

const APT = "/usr/bin/apt-get";

export const NO_BUBBLEWRAP = "bubblewrap does not work here. Install it on the PATH, and allow user namespaces.";

export function findBubblewrap(): string | null {
  return works() || (install() && works()) ? "bwrap" : null;
}

export function withBubblewrap(act: () => Promise<void>): (context: TestContext) => Promise<void> {
  return async (context) => {
    if (works()) return act();
    if (process.env["CI"] === "true") throw new Error(NO_BUBBLEWRAP);
    return context.skip(NO_BUBBLEWRAP);
  };
}

/** A container may have bubblewrap but forbid namespaces. */
function works(): boolean {
  return spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]).status === 0;
}

function install(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(APT)) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync(APT, args, { env, stdio: "ignore" }).status === 0;
  const options = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
  return apt("update") && apt("install", ...options, "bubblewrap");
}
