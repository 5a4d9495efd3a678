import { git, OLDEST_GIT, text } from "./git.ts";

/** Returns "" if git prints no version. `readGitVersion` throws `git_missing` or `git_failed` if it does not run. */
export async function readGitVersion(timeoutMs?: number): Promise<string> {
  const options = { cwd: "/", ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const { stdout } = await git("print its version", ["--version"], options);
  return /\d+(\.\d+)+/.exec(text(stdout))?.[0] ?? "";
}

export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldMajor = 0, oldMinor = 0] = OLDEST_GIT.split(".").map(Number);
  return major < oldMajor || (major === oldMajor && minor < oldMinor);
}
