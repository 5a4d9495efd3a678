// Compares the user's refs, HEAD and settings, which all sessions share. Only `mergeResult`, which the user orders,
// changes them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readRefFiles } from "../disk/ref-files.ts";
import { items, text } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";
import type { RepositoryChanges, RepositoryState } from "../workspace.ts";

const OWN = /^refs\/heads\/(?:tutti|agent)\//;
/** `MAX_REPORTED` limits the size of the event. */
const MAX_REPORTED = 100;

export async function readState(repository: Repository): Promise<RepositoryState> {
  const { gitDir, commonDir } = repository;
  // Every turn compares the refs, so `readRefFiles` avoids a git process.
  const files = await readRefFiles(commonDir, ["refs/heads", "refs/tags"]);
  const refs = files ? withoutOwn(files) : await askForRefs(repository);
  // A reftable contains HEAD, and `askForRefs` finds it unless HEAD is detached or its branch has no commit. Then the
  // file is right.
  if (!refs.has("HEAD")) refs.set("HEAD", (await read(join(gitDir, "HEAD"))).replace(/^ref: /, "").trim());
  return { refs, config: await read(join(commonDir, "config")) };
}

const read = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

const withoutOwn = (refs: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...refs].filter(([ref]) => !OWN.test(ref)));

/** Starts git, because `readRefFiles` cannot read the reftable format. */
async function askForRefs(repository: Repository): Promise<Map<string, string>> {
  const args = ["for-each-ref", "--format=%(HEAD)%(objectname) %(refname)", "refs/heads", "refs/tags"];
  const { stdout } = await onRepository(repository, "read the user's refs", args, { gitDir: repository.gitDir });
  const refs = new Map<string, string>();
  for (const line of text(stdout).split("\n")) {
    const [, head, commit, ref] = /^(.)(\S+) (.*)$/.exec(line) ?? [];
    if (commit === undefined || ref === undefined) continue;
    if (head === "*") refs.set("HEAD", ref);
    if (!OWN.test(ref)) refs.set(ref, commit);
  }
  return refs;
}

export async function compareStates(
  repository: Repository,
  before: RepositoryState,
  after: RepositoryState,
): Promise<RepositoryChanges | null> {
  const names = new Set([...before.refs.keys(), ...after.refs.keys()]);
  const refs = [...names]
    .filter((ref) => before.refs.get(ref) !== after.refs.get(ref))
    .map((ref) => {
      const [from, to] = [before.refs.get(ref), after.refs.get(ref)];
      return { ref, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    });
  const settings = before.config === after.config ? [] : await changedSettings(repository, before.config, after.config);
  if (refs.length + settings.length === 0) return null;
  return { refs: refs.slice(0, MAX_REPORTED), settings: settings.slice(0, MAX_REPORTED) };
}

async function changedSettings(repository: Repository, before: string, after: string): Promise<string[]> {
  const [old, current] = await Promise.all([before, after].map((config) => valuesIn(repository, config)));
  const names = new Set([...old!.keys(), ...current!.keys()]);
  return [...names].filter((name) => old!.get(name) !== current!.get(name)).sort();
}

/** Maps each setting to all of its values. `valuesIn` treats a file that git cannot read as a single setting. */
async function valuesIn(repository: Repository, config: string): Promise<Map<string, string>> {
  const args = ["config", "--file", "-", "--list", "-z"];
  const options = { input: Buffer.from(config), accept: [1, 128] };
  const { code, stdout } = await onRepository(repository, "read settings", args, options);
  if (code !== 0) return new Map([["config", config]]);
  const values = new Map<string, string>();
  for (const item of items(stdout).map(text)) {
    const [name = ""] = item.split("\n", 1);
    values.set(name, `${values.get(name) ?? ""}\0${item.slice(name.length)}`);
  }
  return values;
}
