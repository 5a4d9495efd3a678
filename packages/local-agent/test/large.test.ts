import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AgentSession, lastBlock } from "./agent-session.ts";
import {
  brokenLinks,
  documentRepository,
  inventedNames,
  makeRepository,
  removeTemporaryFolders,
  taskVariables,
  type Task,
} from "./document.ts";

afterAll(removeTemporaryFolders);

describe("a large repository", () => {
  const files: Record<string, string> = { "package.json": '{"name":"large"}' };
  const count = process.env["TUTTI_TEST_LONG"] === "1" ? 4_000 : 2_000;
  for (let index = 0; index < count; index += 1) {
    const area = `area${index % 40}`;
    const next = (index + 40) % count;
    files[`src/${area}/part${index % 7}/f${index}.ts`] =
      `import { g${next} } from "../part${next % 7}/f${next}.ts";\n` +
      `/** Number ${index}. */\nexport function g${index}(a: number): number {\n  return g${next}(a);\n}\n`;
  }

  test("has a bounded number of components, and a page takes a bounded time and memory", async () => {
    const root = makeRepository(files);
    await using session = new AgentSession(root);
    const analysis = lastBlock(await session.ask("analysis"));
    expect((analysis.data["components"] as unknown[]).length).toBeLessThanOrEqual(16);
    expect(JSON.stringify(analysis.data).length).toBeLessThan(200_000);
    const tasks = lastBlock(await session.ask("taskPlanning")).data["tasks"] as Task[];
    const largest = tasks.toSorted((a, b) => b.scope.length - a.scope.length)[0]!;
    expect(lastBlock(await session.ask("workerExecution", taskVariables(largest))).data).toMatchObject({
      status: "success",
    });
    expect(session.cpuSeconds()).toBeLessThan(45);
    expect(session.peakMegabytes()).toBeLessThan(160);
  });
});

describe("text that could take exponential time", () => {
  test("takes a bounded time", async () => {
    const root = makeRepository({
      ".gitignore": `${"*a".repeat(140)}\n${"**/".repeat(90)}x\n`,
      "src/open.ts": "(".repeat(100_000).replaceAll(/.{4000}/g, "$&\n"),
      "src/close.ts": `${"([".repeat(25_000)}${"}".repeat(25_000)}`.replaceAll(/.{4000}/g, "$&\n"),
      "src/templates.ts": "`${".repeat(30_000).replaceAll(/.{3999}/g, "$&\n"),
      "src/angles.ts": `export const a = b${"<c".repeat(30_000)}`.replaceAll(/.{4000}/g, "$&\n"),
      "src/slashes.ts": `${"/[".repeat(2_000)}\n`.repeat(20),
      "src/comment.ts": `/**\n${" * `a [b](c\n".repeat(10_000)} */\nexport const long = 1;\n`,
      "src/star-a.ts": 'export * from "./star-b.ts";\n'.repeat(200),
      "src/star-b.ts": 'export * from "./star-a.ts";\n'.repeat(200),
      "src/use.ts": 'import * as star from "./star-a.ts";\nimport { nothing } from "./star-b.ts";\nstar.x(nothing);\n',
      "py/a.py": `x = (\n${"(\n".repeat(25_000)}`,
      "py/b.py": `${'"""\n'.repeat(10_001)}def f(): pass\n`,
      "go/a.go": `package a\n${"func F(a interface{\n".repeat(3_000)}`,
    });
    await using session = new AgentSession(root);
    const tasks = lastBlock(await session.ask("taskPlanning")).data["tasks"] as Task[];
    for (const task of tasks) {
      expect(lastBlock(await session.ask("workerExecution", taskVariables(task))).data).toMatchObject({
        status: "success",
      });
    }
    expect(lastBlock(await session.ask("verification")).data).toMatchObject({ status: "passed" });
    expect(session.cpuSeconds()).toBeLessThan(45);
  });
});

describe("Tutti's own source", () => {
  test("is documented with names that exist and links that resolve", async () => {
    const source = join(import.meta.dirname, "../../tutti/src");
    const files = await sourcesOf(source, ["run", "template"]);
    const run = await documentRepository(makeRepository(files));
    expect(inventedNames(run.root, run.pages)).toEqual([]);
    expect(brokenLinks(run.root, run.pages)).toEqual([]);
    expect(run.verification.data["status"]).toBe("passed");
    // The overview also writes the page about the architecture.
    expect(run.pages.size).toBe(run.tasks.length + 1);
  });
});

/** Reads all sources in some folders below `root`. */
async function sourcesOf(root: string, folders: readonly string[]): Promise<Record<string, string>> {
  const { readdirSync, readFileSync } = await import("node:fs");
  const files: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && /\.(?:ts|mjs|js|md|json)$/.test(entry.name))
        files[path] = readFileSync(join(root, path), "utf8");
    }
  };
  for (const folder of folders) walk(folder);
  return files;
}
