import { text } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";

/** Skips Tutti's own branches. Returns null if no other branch or tag contains `commit`. */
export async function findHolder(repository: Repository, commit: string): Promise<string | null> {
  const places = ["refs/heads", "refs/remotes", "refs/tags"];
  const args = ["for-each-ref", `--contains=${commit}`, "--format=%(refname)", ...places];
  const { stdout } = await onRepository(repository, `find what holds ${commit}`, args);
  const names = text(stdout).split("\n");
  const holder = names.find((name) => name !== "" && !name.startsWith("refs/heads/tutti/"));
  return holder?.replace(/^refs\/(?:heads|remotes|tags)\//, "") ?? null;
}
