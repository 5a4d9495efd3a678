// Finds damage to a data folder and a repository after a power cut: everything published before must exist, and every
// remaining file must be readable.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Operation } from "./operation.ts";
import type { JsonLine, Lab } from "../lab/lab.ts";
import { readSummaries, replayLog } from "../../src/main/read-log.ts";
import { attemptRef, runBranch } from "../../src/schema/ids.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { readEnd, readKeeper } from "../../src/session/keeper/session-folder.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { Transcript } from "../../src/session/transcript/transcript.ts";

/** Returns the events that `--json` had printed by then. */
export function toldEvents(operations: readonly Operation[]): JsonLine[] {
  const text = operations.flatMap((operation) => (operation.type === "said" ? [operation.text] : [])).join("");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as JsonLine).filter((line) => line.seq !== undefined);
}

export async function findLosses(lab: Lab, published: readonly JsonLine[]): Promise<string[]> {
  return [
    ...(await attempt("the log does not open", () => lossesOfLog(lab, published))),
    ...(await attempt("git fails", () => lossesOfGit(lab, published))),
    ...(await attempt("the session folders cannot be read", () => lossesOfSessions(lab))),
  ];
}

async function attempt(sentence: string, look: () => string[] | Promise<string[]>): Promise<string[]> {
  try {
    return await look();
  } catch (error) {
    return [`${sentence}: ${String(error)}`];
  }
}

function lossesOfLog(lab: Lab, published: readonly JsonLine[]): string[] {
  const log = existsSync(join(lab.data, "tutti.db")) ? lab.events() : [];
  const found = new Map(log.map((event) => [event.seq, event]));
  const lost = published.filter((line) => !isSame(line, found.get(line.seq!)));
  const problems = readSummaries(lab.data).flatMap(({ id }) => replayLog(lab.data, id).problems);
  return [
    ...lost.map(({ seq, type }) => `the event ${seq} (${type}) was published and is lost`),
    ...problems.map((problem) => `the log does not fold: ${JSON.stringify(problem)}`),
  ];
}

const isSame = (published: JsonLine, found: StoredEvent | undefined): boolean =>
  found !== undefined && found.type === published.type && JSON.stringify(found.data) === JSON.stringify(published.data);

function lossesOfGit(lab: Lab, published: readonly JsonLine[]): string[] {
  const named = new Map<string, string>();
  for (const { type, data } of published) for (const hash of hashesIn(data)) named.set(hash, type!);
  // If `isSound`, the loop below need not check the commits one by one.
  const isSound = damageOf(lab, [...named.keys()]) === null;
  const damaged = [...named].flatMap(([hash, type]) => {
    const damage = isSound ? null : damageOf(lab, [hash]);
    return damage === null ? [] : [`the commit ${hash} of a published ${type} is damaged: ${damage}`];
  });
  const { stdout, stderr } = git(lab, ["for-each-ref", "--format=%(refname) %(objectname)"]);
  const refs = new Map(stdout.split("\n").map((line) => line.split(" ") as [string, string]));
  const wrong = [...promisedRefs(published)].flatMap(([ref, commit]) =>
    isAncestor(lab, commit, refs.get(ref)) ? [] : [`${ref} does not contain ${commit}, which was published`],
  );
  return [...damaged, ...wrong, ...(stderr === "" ? [] : [`git reports a broken ref: ${stderr.trim()}`])];
}

/** `cat-file` reads every object, including blobs, and fails on a missing or damaged one. */
function damageOf(lab: Lab, hashes: string[]): string | null {
  if (hashes.length === 0) return null;
  const objects = git(lab, ["rev-list", "--objects", "--no-object-names", ...hashes, "--"]);
  const read = objects.status === 0 ? git(lab, ["cat-file", "--batch"], objects.stdout) : objects;
  return read.status !== 0 || / missing$/m.test(read.stdout) ? read.stderr.trim() : null;
}

function hashesIn(value: unknown): string[] {
  if (typeof value === "string") return /^[0-9a-f]{40}$/.test(value) ? [value] : [];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(hashesIn) : [];
}

function promisedRefs(published: readonly JsonLine[]): Map<string, string> {
  const refs = new Map<string, string>();
  const attempts = new Map<string, number>();
  for (const { run, type, data } of published as StoredEvent[]) {
    if (type === "worker:spawning") attempts.set(data.taskId, data.attempt);
    if (type === "worker:completed") refs.set(attemptRef(run!, data.taskId, attempts.get(data.taskId)!), data.commit);
    if (type === "workspace:merged" || type === "orchestrator:aggregated" || type === "orchestrator:verified")
      refs.set(`refs/heads/${runBranch(run!)}`, data.head);
  }
  return refs;
}

const isAncestor = (lab: Lab, commit: string, tip: string | undefined): boolean =>
  tip === commit || (tip !== undefined && git(lab, ["merge-base", "--is-ancestor", commit, tip]).status === 0);

function git(lab: Lab, args: string[], input = ""): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("git", ["-C", lab.repo, ...args], { input, encoding: "latin1", maxBuffer: 1 << 28 });
}

async function lossesOfSessions(lab: Lab): Promise<string[]> {
  const top = join(lab.data, "sessions");
  const folders = (existsSync(top) ? readdirSync(top) : []).flatMap((run) =>
    readdirSync(join(top, run)).map((name) => join(top, run, name)),
  );
  const losses = folders.map((folder) =>
    attempt(`the session ${folder} cannot be read`, async () => {
      readKeeper(folder);
      readEnd(folder);
      await new Transcript(folder, createSecrets([])).page({ after: 0, limit: Number.POSITIVE_INFINITY });
      return [];
    }),
  );
  return (await Promise.all(losses)).flat();
}
