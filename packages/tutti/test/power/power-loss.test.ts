// Records all file operations of a real run, then cuts the power at one moment after another, each time with another
// part of the unsynced changes. All published events must survive, every file must be readable, and the run must end.
// Killing a process cannot show this, because its writes stay in the page cache.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Disk } from "./disk.ts";
import { readTree } from "./files.ts";
import { findLosses } from "./find-losses.ts";
import { dice, randomLuck, SIMPLE } from "./luck.ts";
import { loseTheRest, lossesAt, recordProgram, recordRun, tellingMoments, withoutSyncs } from "./recorded-run.ts";
import type { Moment, RecordedRun } from "./recorded-run.ts";
import { STRACE, withStrace } from "./strace.ts";
import { Lab, type JsonLine } from "../lab/lab.ts";

/** Number of states to check. The run is resumed from one in `GO_ON_EVERY` of them. */
const STATES = Number(process.env["TUTTI_TEST_POWER"] ?? 24);
const GO_ON_EVERY = 12;
const SEED = Number(process.env["TUTTI_TEST_SEED"] ?? 1);
const PROMISING = fileURLToPath(new URL("./promising-process.ts", import.meta.url));

/** Half of the moments follow an output directly; the others are random. */
function chooseMoments(run: RecordedRun, count: number): Moment[] {
  const random = dice(SEED);
  const telling = tellingMoments(run.operations);
  const anywhere = () => 1 + Math.floor(random() * run.operations.length);
  const afterOutput = () => telling[Math.floor(random() * telling.length)]!;
  const lucks = Object.values(SIMPLE);
  return Array.from({ length: count }, (_, i) => ({
    at: i % 2 === 0 ? afterOutput() : anywhere(),
    model: i % 3 === 2 ? "journal" : "strict",
    luck: lucks[i % 4] ?? randomLuck(random),
  }));
}

async function lossesWithout(run: RecordedRun, forgotten: (path: string) => boolean): Promise<string[]> {
  const faulty = withoutSyncs(run, forgotten);
  const telling = tellingMoments(faulty.operations);
  const some = [Math.floor(telling.length / 2), telling.length - 2].map((i) => telling[i]!);
  const lucks = [SIMPLE["nothing"]!, SIMPLE["names"]!];
  const losses: string[] = [];
  for (const at of some)
    for (const luck of lucks) losses.push(...(await lossesAt(faulty, { at, model: "strict", luck })));
  return losses;
}

describe(`a run during a power cut (${STATES} states, seed ${SEED})`, () => {
  let run: RecordedRun;
  beforeAll(async () => {
    if (STRACE.find() !== null) run = await recordRun(new Lab());
  });
  afterAll(() => run?.lab.tearDown());

  it(
    "is recorded completely: its operations reproduce the files that it left",
    withStrace(async () => {
      const disk = new Disk(run.lab.folder, run.before);
      for (const operation of run.operations) disk.apply(operation);
      const left = readTree(run.lab.folder);
      const { live } = disk;
      expect([...live.keys()].toSorted()).toEqual([...left.keys()].toSorted());
      for (const path of left.keys()) expect(textAt(live, path), path).toBe(textAt(left, path));
    }),
  );

  it(
    "opens after a power cut at any moment of the creation of its data folder",
    withStrace(async () => {
      const first = tellingMoments(run.operations)[0]!;
      for (let at = 1; at < first; at += 2)
        expect(
          await lossesAt(run, { at, model: "strict", luck: SIMPLE["nothing"]! }),
          `after ${at} operations`,
        ).toEqual([]);
    }),
  );

  it(
    "loses no published event, opens, and can be resumed to its end",
    { timeout: 600_000 + STATES * 10_000 },
    withStrace(async () => {
      for (const [i, moment] of chooseMoments(run, STATES).entries()) {
        const where = `state ${i} of seed ${SEED}, after ${moment.at} operations (${moment.model})`;
        expect(await lossesAt(run, moment), where).toEqual([]);
        if (i % GO_ON_EVERY === GO_ON_EVERY - 1) await goOn(run.lab, where);
      }
    }),
  );

  it(
    "loses events if the log is not synced",
    withStrace(async () => {
      const losses = await lossesWithout(run, (path) => path.endsWith("tutti.db-wal"));
      expect(losses).toContainEqual(
        expect.stringMatching(/^the event \d+ \(worker:completed\) was published and is lost$/),
      );
    }),
  );

  it(
    "loses events if no folder is synced",
    withStrace(async () => {
      const folders = new Set([run.lab.folder, ...foldersOf(run)]);
      const losses = await lossesWithout(run, (path) => folders.has(path));
      expect(losses).toContainEqual(
        expect.stringMatching(/^the event \d+ \(orchestrator:created\) was published and is lost$/),
      );
    }),
  );

  it(
    "loses commits if git's object folders are not synced",
    withStrace(async () => {
      const losses = await lossesWithout(run, (path) => foldersOf(run).has(path) && path.includes("/.git/objects"));
      expect(losses).toContainEqual(expect.stringMatching(/^the commit \w+ of a published \S+ is damaged/));
    }),
  );

  it(
    "loses commits if git's objects are not synced",
    withStrace(async () => {
      const losses = await lossesWithout(run, (path) => /\/\.git\/objects\/\w\w\/./.test(path));
      expect(losses).toContainEqual(expect.stringMatching(/^the commit \w+ of a published \S+ is damaged/));
    }),
  );

  it(
    "loses refs if refs are not synced",
    withStrace(async () => {
      const losses = await lossesWithout(run, (path) => path.includes("/.git/refs/"));
      expect(losses).toContainEqual(
        expect.stringMatching(/^refs\/tutti\/\w+\/one\/1 does not contain \w+, which was published$/),
      );
      expect(losses).toContainEqual(expect.stringMatching(/^git reports a broken ref/));
    }),
  );

  it(
    "loses sessions if the files of a session are not synced",
    withStrace(async () => {
      const losses = await lossesWithout(run, (path) => path.includes("/sessions/"));
      expect(losses).toContainEqual(expect.stringMatching(/^the session \S+ cannot be read: SyntaxError/));
    }),
  );
});

describe("a file that is written outside of a run", () => {
  let run: RecordedRun;
  beforeAll(async () => {
    if (STRACE.find() === null) return;
    const lab = new Lab();
    run = await recordProgram(lab, [PROMISING, lab.folder, lab.repo, lab.git("rev-parse", "HEAD")]);
  });
  afterAll(() => run?.lab.tearDown());

  it(
    "survives a power cut directly after its write: token, trust, templates, mailbox, an agent's own commits",
    withStrace(async () => {
      const disk = new Disk(run.lab.folder, run.before);
      const reported: string[] = [];
      for (const [i, operation] of run.operations.entries()) {
        disk.apply(operation);
        if (operation.type !== "said") continue;
        const [, what = "", name = ""] = /^(file|commit) (.*)\n$/.exec(operation.text) ?? [];
        reported.push(what);
        for (const luck of [SIMPLE["nothing"]!, SIMPLE["names"]!]) {
          if (what === "file") expect(textAt(disk.afterLoss("strict", luck), name), name).toBe(textAt(disk.live, name));
          else expect(await lossOfCommit(run, { at: i + 1, model: "strict", luck }, name)).toEqual([]);
        }
      }
      expect(reported.filter((what) => what === "file").length).toBeGreaterThan(8);
      expect(reported.at(-1)).toBe("commit");
    }),
  );
});

async function lossOfCommit(run: RecordedRun, moment: Moment, commit: string): Promise<string[]> {
  loseTheRest(run, moment);
  const published = {
    seq: 1,
    type: "orchestrator:verified",
    run: "orch_aaaaaaaaaaaa",
    data: { head: commit },
  } as JsonLine;
  return (await findLosses(run.lab, [published])).filter((loss) => loss.startsWith("the commit"));
}

function textAt(tree: ReturnType<typeof readTree>, path: string): string | null {
  const found = tree.get(path);
  return found?.kind === "file" ? found.bytes.toString("latin1") : null;
}

function foldersOf(run: RecordedRun): Set<string> {
  const made = run.operations.flatMap((operation) => (operation.type === "makeFolder" ? [operation.path] : []));
  return new Set([...made, ...[...run.before].flatMap(([path, { kind }]) => (kind === "folder" ? [path] : []))]);
}

/** Resumes the run with a new engine. The result must equal the agents' work byte for byte. */
async function goOn(lab: Lab, where: string): Promise<void> {
  const id = existsSync(join(lab.data, "tutti.db")) ? lab.events()[0]?.run : null;
  // The power cut came before the run was created.
  if (!id) return;
  const { last } = await lab.json(["attach", id, "--yes"]);
  expect(last, where).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
  const show = (file: string) => lab.git("show", `tutti/${id}:${file}`);
  expect(["README.md", "docs/one.md", "docs/two.md"].map(show), where).toEqual([
    "# A project",
    "# Title of one",
    "# Title of two",
  ]);
  expect(lab.git("ls-tree", "-r", "--name-only", `tutti/${id}`).split("\n"), where).toHaveLength(3);
  // Files of finished sessions may reappear and are ignored.
  const left = lab.leftovers().filter((line) => !line.startsWith("sessions/"));
  expect(left, where).toEqual([]);
}
