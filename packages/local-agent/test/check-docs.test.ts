// Each mistake that a page can have is put into a correct page, or into both a page and the analysis, and must be found.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkDocs } from "../src/check/check-docs.ts";
import { analyse, type CodeAnalysis } from "../src/understand/analyse.ts";
import { readSettings } from "../src/settings.ts";
import { copyOf, documentRepository, makeRepository, removeTemporaryFolders } from "./document.ts";

afterAll(removeTemporaryFolders);

const LIBRARY = {
  "README.md":
    "# Library\n\nLends books to *readers* of [all ages](https://example.org).\n\nWe're excited to announce 2.0!\n",
  "package.json":
    '{"name":"library","workspaces":["packages/*"],"scripts":{"lint":"oxlint"},"dependencies":{"zod":"4.1.0"},"devDependencies":{"vitest":"5.0.0"}}',
  Makefile: "check:\n\tnpm run lint\n",
  "packages/books/package.json": '{"name":"books","main":"src/index.ts"}',
  "packages/books/src/index.ts":
    '// The books of the library.\nexport * from "./lend.ts";\n\nfunction hidden(): number {\n  return 1;\n}\n\n/** Returns a book. */\nexport function giveBack(title: string): number {\n  return title.length + hidden();\n}\n',
  "packages/books/src/lend.ts":
    "/** Lends a book. */\nexport function lend(title: string): string {\n  return title;\n}\n\nconst all = 3;\nexport { all as total };\n",
  "packages/desk/package.json": '{"name":"desk","dependencies":{"books":"*"}}',
  "packages/desk/src/main.ts":
    '#!/usr/bin/env node\n// Serves the readers.\nimport { giveBack } from "books";\n\nconsole.log(giveBack("Emma"));\n',
  "packages/books/test/lend.test.ts":
    'import { lend } from "../src/lend.ts";\n\ntest("lends", () => {\n  expect(lend("Emma")).toBe("Emma");\n});\n',
};

const first = documentRepository(makeRepository(LIBRARY));

async function analysisOf(root: string): Promise<CodeAnalysis> {
  return analyse(root, () => Promise.resolve(), readSettings({ DOCS_FOLDER: "docs" }));
}

const descriptions = (analysis: CodeAnalysis): string[] =>
  checkDocs(analysis, new Set())
    .issues.filter(({ isFault }) => isFault)
    .map(({ description }) => description);

test("correct pages have no faults, and every kind of statement is on them", async () => {
  const { root, pages, verification } = await first;
  expect(verification.data).toMatchObject({ status: "passed", issues: [] });
  expect(descriptions(await analysisOf(root))).toEqual([]);
  expect(verification.data["summary"]).toMatch(
    /^Checked 4 pages: 3 names, 2 examples and 1 dependency against the code/,
  );
  expect(pages.get("docs/README.md")).toContain("| `make check` | runs `npm run lint` |");
  expect(pages.get("docs/README.md")).toContain("started as a program");
});

test.each<[string, string, RegExp | string, string, string]>([
  ["two pages with one title", "desk.md", "# desk", "# books", "have the same title books"],
  ["a private name", "books.md", "#### `giveBack`", "#### `hidden`", "index.ts does not export hidden."],
  ["a line without the name", "books.md", "lend.ts#L2)", "lend.ts#L1)", "lend is declared on line 2"],
  ["a missing arrow", "architecture.md", / {2}c2 --> c1\n/, "", "The arrow desk → books is missing."],
  ["an invented arrow", "architecture.md", "c2 --> c1", "c1 --> c2", "No import proves the arrow books → desk."],
  ["an invented dependency", "books.md", "## Used by", "## Depends on", "No import proves that books depends on desk."],
  ["a lost heading", "books.md", "(#lend)", "(#borrow)", "points to a line or heading that does not exist"],
  [
    "a changed example",
    "books.md",
    'expect(lend("Emma"))',
    'expect(lend("Persuasion"))',
    "The example is not at line 4",
  ],
  ["an example at another line", "books.md", "lend.test.ts#L4)", "lend.test.ts#L5)", "The example is not at line 5"],
  [
    "an invented package",
    "README.md",
    "| `zod` |",
    "| `workspaces` |",
    "No manifest declares the dependency workspaces.",
  ],
  ["another version", "README.md", "`4.1.0`", "`4.2.0`", "No manifest declares version 4.2.0 of zod."],
  ["an invented tool", "README.md", "`vitest`", "`jest`", "No manifest declares the dependency jest."],
  [
    "a library as a program",
    "README.md",
    "../packages/desk/src/main.ts), started",
    "../packages/books/src/lend.ts), started",
    "packages/books/src/lend.ts is not started as a program.",
  ],
  [
    "an invented script",
    "README.md",
    "`npm run lint` |",
    "`npm run format` |",
    "No file of the project defines the command npm run format.",
  ],
  [
    "an invented target",
    "README.md",
    "`make check`",
    "`make all`",
    "No file of the project defines the command make all.",
  ],
  ["a command of another ecosystem", "README.md", "`npm install`", "`cargo build`", "defines the command cargo build."],
  [
    "another name of the project",
    "README.md",
    "# Library",
    "# desk",
    "Neither the README nor a manifest calls the project desk.",
  ],
  ["an invented purpose", "README.md", "Lends books", "Sells books", "has the description of the project."],
  [
    "news as the purpose",
    "README.md",
    /Lends books.*/,
    "We're excited to announce 2.0!",
    "The description of the project is news.",
  ],
])("%s on a page is found", async (_, page, from, to, problem) => {
  const root = copyOf((await first).root);
  const path = join(root, "docs", page);
  const text = readFileSync(path, "utf8");
  expect(text.replace(from, to)).not.toBe(text);
  writeFileSync(path, text.replace(from, to));
  expect(descriptions(await analysisOf(root)).join("\n")).toContain(problem);
});

describe("a mistake of the analysis that the page repeats", () => {
  test("is found for a line, in the file", async () => {
    const root = copyOf((await first).root);
    const analysis = await analysisOf(root);
    const path = "packages/books/src/lend.ts";
    const module = analysis.modules.get(path)!;
    const exports = module.exports.map((entry) => (entry.name === "lend" ? { ...entry, line: 3 } : entry));
    const page = join(root, "docs/books.md");
    writeFileSync(page, readFileSync(page, "utf8").replaceAll("lend.ts#L2)", "lend.ts#L3)"));
    const modules = new Map([...analysis.modules, [path, { ...module, exports }]]);
    expect(descriptions({ ...analysis, modules })).toEqual([`Line 3 of ${path} does not declare lend.`]);
  });

  test("is found for an import, in the text of the file", async () => {
    const root = copyOf((await first).root);
    const analysis = await analysisOf(root);
    const importer = "packages/books/src/lend.ts";
    const links = new Map([
      ...analysis.graph.links,
      [importer, new Map([["packages/desk/src/main.ts", new Set<string>()]])],
    ]);
    const page = join(root, "docs/architecture.md");
    writeFileSync(page, readFileSync(page, "utf8").replace("  c2 --> c1\n", "  c1 --> c2\n  c2 --> c1\n"));
    appendFileSync(join(root, "docs/books.md"), "\n## Depends on\n\n- [desk](desk.md)\n");
    expect(descriptions({ ...analysis, graph: { ...analysis.graph, links } })).toEqual([
      "No import proves the arrow books → desk.",
      "No import proves that books depends on desk.",
    ]);
  });

  test("is found for a package, in the manifest", async () => {
    const root = copyOf((await first).root);
    const analysis = await analysisOf(root);
    const [manifest, ...others] = analysis.manifests;
    const dependencies = [...manifest!.dependencies, { name: "workspaces", version: "", isForDevelopment: false }];
    const page = join(root, "docs/README.md");
    writeFileSync(
      page,
      readFileSync(page, "utf8").replace("For development:", "Also `workspaces`.\n\nFor development:"),
    );
    expect(descriptions({ ...analysis, manifests: [{ ...manifest!, dependencies }, ...others] })).toEqual([
      "No manifest declares the dependency workspaces.",
    ]);
  });
});
