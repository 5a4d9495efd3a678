import { git, text } from "./git.ts";

/** Reads the version of the git on the PATH. Throws `git_missing` or `git_failed`. */
export async function readGitVersion(timeoutMs: number): Promise<string> {
  const { stdout } = await git("print its version", ["--version"], { cwd: "/", timeoutMs });
  return /\d+(\.\d+)+/.exec(text(stdout))?.[0] ?? "";
}
