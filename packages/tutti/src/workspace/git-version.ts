// Which git there is.
import { git, text } from "./git.ts";

/** The version of the git on the PATH; fails with git_missing or git_failed. */
export async function readGitVersion(timeoutMs: number): Promise<string> {
  const { stdout } = await git("say its version", ["--version"], { cwd: "/", timeoutMs });
  return /\d+(\.\d+)+/.exec(text(stdout))?.[0] ?? "";
}
