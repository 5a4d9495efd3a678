// Finds strace, or installs it with apt if this process runs as root. Without it the tests are skipped with a reason,
// or fail in CI.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestContext } from "vitest";

const APT = "/usr/bin/apt-get";

export const NO_STRACE = "strace does not work here. Install it on the PATH, and allow processes to be traced.";

export function findStrace(): string | null {
  return works() || (install() && works()) ? "strace" : null;
}

export function withStrace(act: () => Promise<void>): (context: TestContext) => Promise<void> {
  return async (context) => {
    if (works()) return act();
    if (process.env["CI"] === "true") throw new Error(NO_STRACE);
    return context.skip(NO_STRACE);
  };
}

/** A container may have strace but forbid tracing. */
function works(): boolean {
  return spawnSync("strace", ["-f", "-y", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true"]).status === 0;
}

function install(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(APT)) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync(APT, args, { env, stdio: "ignore" }).status === 0;
  return apt("update") && apt("install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "strace");
}
