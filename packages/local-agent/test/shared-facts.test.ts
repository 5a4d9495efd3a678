import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_PAGE_LINES } from "../src/write/page-limits.ts";
import { AgentSession, lastBlock } from "./agent-session.ts";
import { makeRepository, removeTemporaryFolders, taskVariables, temporaryFolder, type Task } from "./document.ts";

afterAll(removeTemporaryFolders);

/** Old enough that git compares no contents to be sure. */
const LONG_AGO = new Date("2020-01-01T00:00:00Z");
const FILES = 60;

describe("the facts that the analysis has found", () => {
  let main = "";
  let worker = "";
  let task: Task;
  let notes = "";
  let blob = "";

  beforeAll(async () => {
    const sources = Array.from({ length: FILES }, (_, index): [string, string] => [
      `src/part${index}.ts`,
      `/** Step ${index}. */\nexport function alpha${index}(): number {\n  return ${index};\n}\n`,
    ]);
    main = makeRepository({ "package.json": '{"name":"shared"}', ...Object.fromEntries(sources) });
    git(main, "init", "-q");
    git(main, "config", "core.trustctime", "false");
    git(main, "add", ".");
    git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "Start");
    worker = join(temporaryFolder(), "worker");
    git(main, "worktree", "add", "-q", "--detach", worker);
    await using session = new AgentSession(main);
    notes = lastBlock(await session.ask("analysis")).data["notes"] as string;
    task = (lastBlock(await session.ask("taskPlanning")).data["tasks"] as Task[])[0]!;
    const id = /git object ([0-9a-f]{40})\./.exec(notes)![1]!;
    blob = join(main, ".git/objects", id.slice(0, 2), id.slice(2));
    changeUnseen();
  });

  test("are taken over by a worker, which reads only the files that git reports as changed", async () => {
    writeFileSync(join(worker, "src/part7.ts"), "export function changed(): number {\n  return 1;\n}\n");
    const page = await writePage();
    expect(page).toContain("`alpha8`");
    expect(page).not.toContain("omega");
    expect(page).toContain("`changed`");
    expect(page).not.toContain("`alpha7`");
  });

  test.each([
    ["is missing", (): void => rmSync(blob, { force: true })],
    ["is damaged", (): void => replaceBlob(readFileSync(blob).subarray(0, 100))],
    ["has another content", (): void => replaceBlob(deflateSync("blob 5\0facts"))],
  ])("are found again by a worker if the object %s", async (_, damage) => {
    const stored = readFileSync(blob);
    damage();
    const page = await writePage();
    replaceBlob(stored);
    expect(page).toContain("`omega8`");
    expect(page).not.toContain("`alpha8`");
  });

  /** Changes each file in a way that only a reader of its content can notice. */
  function changeUnseen(): void {
    const paths = readdirSync(join(worker, "src")).map((name) => join(worker, "src", name));
    for (const path of paths) utimesSync(path, LONG_AGO, LONG_AGO);
    git(worker, "update-index", "-q", "--refresh");
    for (const path of paths) {
      writeFileSync(path, readFileSync(path, "utf8").replace("alpha", "omega"));
      utimesSync(path, LONG_AGO, LONG_AGO);
    }
  }

  function replaceBlob(bytes: Uint8Array): void {
    rmSync(blob, { force: true });
    writeFileSync(blob, bytes);
    chmodSync(blob, 0o444);
  }

  async function writePage(): Promise<string> {
    await using session = new AgentSession(worker, { TUTTI_ROLE: "worker", TUTTI_TASK_ID: task.id });
    const variables = { ...taskVariables(task), ANALYSIS_JSON: JSON.stringify({ notes }) };
    const { data } = lastBlock(await session.ask("workerExecution", variables));
    expect(data).toMatchObject({ status: "success" });
    const [page] = [...(data["output_files"] as string[]), ...(data["unchanged_files"] as string[])];
    return readFileSync(join(worker, page!), "utf8");
  }
});

test("the facts about a header with thousands of names have only those that its page shows", async () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `int read_${index}(void);\n`);
  const headers = Array.from({ length: FILES }, (_, index) => [`include/part${index}.h`, `int part_${index}(void);\n`]);
  const root = makeRepository({ "include/registers.h": names.join(""), ...Object.fromEntries(headers) });
  git(root, "init", "-q");
  git(root, "add", ".");
  await using session = new AgentSession(root);
  const notes = lastBlock(await session.ask("analysis")).data["notes"] as string;
  const facts = git(root, "cat-file", "blob", /git object ([0-9a-f]{40})\./.exec(notes)![1]!);
  expect(facts).toContain('"read_11"');
  expect(facts).not.toContain("read_12");
  const [task] = lastBlock(await session.ask("taskPlanning")).data["tasks"] as Task[];
  const { data } = lastBlock(await session.ask("workerExecution", taskVariables(task!)));
  const page = readFileSync(join(root, (data["output_files"] as string[])[0]!), "utf8");
  expect(page).toContain("read_0");
  expect(page).toContain("The files contain 1988 more public names.");
  expect(page.split("\n").length).toBeLessThanOrEqual(MAX_PAGE_LINES);
  expect(MAX_PAGE_LINES).toBe(1_500);
});

test("headers after many others keep only the names that a table shows", async () => {
  const header = (index: number): string =>
    Array.from({ length: 180 }, (_, name) => `#define H${index}_VALUE_${name} ${name}\n`).join("");
  const headers = Array.from({ length: 290 }, (_, index) => [`include/h${1_000 + index}.h`, header(1_000 + index)]);
  const root = makeRepository(Object.fromEntries(headers));
  git(root, "init", "-q");
  git(root, "add", ".");
  await using session = new AgentSession(root);
  const notes = lastBlock(await session.ask("analysis")).data["notes"] as string;
  const facts = git(root, "cat-file", "blob", /git object ([0-9a-f]{40})\./.exec(notes)![1]!);
  expect(facts).toContain('"H1000_VALUE_179"');
  expect(facts).toContain('"H1289_VALUE_11"');
  expect(facts).not.toContain('"H1289_VALUE_12"');
  const [task] = lastBlock(await session.ask("taskPlanning")).data["tasks"] as Task[];
  const { data } = lastBlock(await session.ask("workerExecution", taskVariables(task!)));
  const page = readFileSync(join(root, (data["output_files"] as string[])[0]!), "utf8");
  expect(page).toMatch(/^The files contain \d+ more public names\.$/m);
});

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", maxBuffer: 1e9 });
}
