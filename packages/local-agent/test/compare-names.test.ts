import { describe, expect, test } from "vitest";
import { compareNames, type ComparedFile } from "../src/compare/compare-names.ts";

const changes = (path: string, before: string, after: string | null): ComparedFile => ({ path, before, after });
const adds = (path: string, after: string): ComparedFile => ({ path, before: null, after });

async function compare(one: ComparedFile, two: ComparedFile): Promise<string[]> {
  const uses = await compareNames([
    { task: "one", files: [one] },
    { task: "two", files: [two] },
  ]);
  return uses.map(({ name, change, task, usedBy, usedIn, line }) =>
    [task, change, name, usedBy, `${usedIn}:${line}`].join(" "),
  );
}

describe("a name that one task changed and another one uses", () => {
  test.each<[string, ComparedFile, ComparedFile, string]>([
    [
      "TypeScript",
      changes("src/load.ts", "export function load(a: string) {}\n", "export function load(a: string, b: number) {}\n"),
      adds("src/main.ts", 'import { load as open } from "./load.js";\n\nopen("x");\n'),
      "one changed load two src/main.ts:1",
    ],
    [
      "TypeScript through an index",
      changes("src/api/load.ts", "export const load = () => 1;\n", null),
      adds("src/main.ts", 'import { load } from "./api/index.ts";\nload();\n'),
      "one removed load two src/main.ts:1",
    ],
    [
      "a member of a class",
      changes(
        "src/box.ts",
        "export class Box {\n  open(): void {}\n}\n",
        "export class Box {\n  close(): void {}\n}\n",
      ),
      adds("src/main.ts", 'import { Box } from "./box.ts";\nnew Box().open();\n'),
      "one removed Box.open two src/main.ts:2",
    ],
    [
      "Python",
      changes("app/load.py", "def load(a):\n    pass\n", "def load(a, b):\n    pass\n"),
      changes("app/main.py", "from .load import load\n", "from .load import load\n\nload(1)\n"),
      "one changed load two app/main.py:3",
    ],
    [
      "Go, in one package",
      changes("app/load.go", "package app\n\nfunc Load(a int) {}\n", "package app\n\nfunc Load(a, b int) {}\n"),
      adds("app/main.go", "package app\n\nfunc Run() {\n\tLoad(1)\n}\n"),
      "one changed Load two app/main.go:4",
    ],
    [
      "Java, by its import",
      changes(
        "app/Box.java",
        "package app;\npublic class Box {\n  public void open() {}\n}\n",
        "package app;\npublic class Box {\n  public void open(int a) {}\n}\n",
      ),
      adds(
        "other/Main.java",
        "package other;\nimport app.Box;\npublic class Main {\n  Object a = new Box().open();\n}\n",
      ),
      "one changed Box.open two other/Main.java:4",
    ],
  ])("is found in %s", async (_, one, two, expected) => {
    expect(await compare(one, two)).toEqual([expected]);
  });

  const load = changes("src/load.ts", "export function load(a: string) {}\n", "export function load() {}\n");
  test.each<[string, ComparedFile, ComparedFile]>([
    ["has another origin", load, adds("src/main.ts", 'import { load } from "./other.ts";\nload("x");\n')],
    ["is a word of a text", load, adds("src/main.ts", 'import "./load.ts";\nconst a = "load";\n')],
    ["is declared by the user itself", load, adds("src/main.ts", "export function load() {}\nload();\n")],
    [
      "was used before, in a line that is unchanged",
      load,
      changes(
        "src/main.ts",
        'import { load } from "./load.ts";\nload("x");\n',
        'import { load } from "./load.ts";\nload("x");\nconst a = 1;\n',
      ),
    ],
    [
      "has only another body",
      changes("src/load.ts", "export function load() {}\n", "export function load() { return 1; }\n"),
      adds("src/main.ts", 'import { load } from "./load.ts";\nload();\n'),
    ],
    ["is in a file without a grammar", changes("a.md", "# load", "# Load"), adds("b.md", "load")],
  ])("does not count if it %s", async (_, one, two) => {
    expect(await compare(one, two)).toEqual([]);
  });
});
