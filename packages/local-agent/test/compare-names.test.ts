import { describe, expect, test } from "vitest";
import { compareNames, type ComparedFile, type PackageFile } from "../src/compare/compare-names.ts";

const changes = (path: string, before: string, after: string | null): ComparedFile => ({ path, before, after });
const adds = (path: string, after: string): ComparedFile => ({ path, before: null, after });

async function compare(one: ComparedFile, two: ComparedFile, packages: PackageFile[] = []): Promise<string[]> {
  const works = [
    { task: "one", files: [one] },
    { task: "two", files: [two] },
  ];
  const uses = await compareNames(works, packages);
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
    [
      "C#",
      changes(
        "App/Box.cs",
        "namespace App;\npublic class Box {\n  public void Open() {}\n}\n",
        "namespace App;\npublic class Box {\n  public void Open(int a) {}\n}\n",
      ),
      adds(
        "App/Main.cs",
        "namespace App;\npublic class Program {\n  public void Run(Box box) {\n    box.Open();\n  }\n}\n",
      ),
      "one changed Box.Open two App/Main.cs:4",
    ],
    [
      "C, by its header",
      changes("src/load.h", "int load(int a);\n", "int load(int a, int b);\n"),
      adds("src/main.c", '#include "load.h"\n\nint main(void) {\n  return load(1);\n}\n'),
      "one changed load two src/main.c:4",
    ],
    [
      "C++, by its header",
      changes(
        "src/box.hpp",
        "class Box {\npublic:\n  void open();\n};\n",
        "class Box {\npublic:\n  void close();\n};\n",
      ),
      adds("src/main.cpp", '#include "box.hpp"\n\nvoid run(Box& box) {\n  box.open();\n}\n'),
      "one removed Box.open two src/main.cpp:4",
    ],
    [
      "Ruby",
      changes("lib/box.rb", "class Box\n  def open(a)\n  end\nend\n", "class Box\n  def open(a, b)\n  end\nend\n"),
      adds("lib/main.rb", 'require_relative "box"\n\nBox.new.open(1)\n'),
      "one changed Box.open two lib/main.rb:3",
    ],
    [
      "PHP",
      changes(
        "src/Box.php",
        "<?php\nnamespace App;\nclass Box {\n  public function open() {}\n}\n",
        "<?php\nnamespace App;\nclass Box {\n  public function open(int $a) {}\n}\n",
      ),
      adds("src/main.php", "<?php\nuse App\\Box;\n\n$box = new Box();\n$box->open();\n"),
      "one changed Box.open two src/main.php:5",
    ],
    [
      "shell",
      changes("lib/load.sh", "load() {\n  echo one\n}\n", "fetch() {\n  echo one\n}\n"),
      adds("main.sh", "#!/bin/sh\n. ./lib/load.sh\n\nload\n"),
      "one removed load two main.sh:4",
    ],
    [
      "Rust, in one crate",
      changes("src/load.rs", "pub fn open(a: u8) {}\n", "pub fn open(a: u8, b: u8) {}\n"),
      adds("src/main.rs", "mod load;\n\nuse crate::load::open;\n\nfn main() {\n    open(1);\n}\n"),
      "one changed open two src/main.rs:3",
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

describe("a name of another package of the repository", () => {
  const inTypeScript = (path: string, from: string): [ComparedFile, ComparedFile] => [
    changes(path, "export function load(a: string) {}\n", "export function load() {}\n"),
    adds("packages/app/src/main.ts", `import { load } from "${from}";\nload("x");\n`),
  ];
  const inGo = (from: string): [ComparedFile, ComparedFile] => [
    changes("libs/core/load/load.go", "package load\n\nfunc Load(a int) {}\n", "package load\n\nfunc Load() {}\n"),
    adds("apps/main/main.go", `package main\n\nimport "${from}"\n\nfunc main() {\n\tload.Load(1)\n}\n`),
  ];
  const npm = (folder: string, name: string) => ({ path: `${folder}package.json`, text: JSON.stringify({ name }) });
  const npmPackages = [npm("", "x"), npm("packages/core/", "@x/core"), npm("packages/app/", "@x/app")];
  const goModule = { path: "libs/core/go.mod", text: "module example.org/x/core\n\ngo 1.24\n" };

  test.each<[string, PackageFile[], [ComparedFile, ComparedFile], string]>([
    [
      "npm",
      npmPackages,
      inTypeScript("packages/core/src/load.ts", "@x/core"),
      "one changed load two packages/app/src/main.ts:1",
    ],
    [
      "npm, with a subpath",
      npmPackages,
      inTypeScript("packages/core/src/load.ts", "@x/core/load"),
      "one changed load two packages/app/src/main.ts:1",
    ],
    ["Go", [goModule], inGo("example.org/x/core/load"), "one changed Load two apps/main/main.go:6"],
    [
      "Rust",
      [{ path: "crates/core/Cargo.toml", text: '[package]\nname = "x-core"\n' }],
      [
        changes("crates/core/src/load.rs", "pub fn load(a: u8) {}\n", "pub fn load() {}\n"),
        adds("crates/app/src/main.rs", "use x_core::load;\n\nfn main() {\n    load(1);\n}\n"),
      ],
      "one changed load two crates/app/src/main.rs:1",
    ],
    [
      "Python",
      [{ path: "libs/core/pyproject.toml", text: '[project]\nname = "x-core"\n' }],
      [
        changes("libs/core/src/x_core/load.py", "def load(a):\n    pass\n", "def load():\n    pass\n"),
        adds("apps/main/main.py", "from x_core.load import load\n\nload(1)\n"),
      ],
      "one changed load two apps/main/main.py:1",
    ],
  ])("is found by the name of a package of %s", async (_, packages, [one, two], expected) => {
    expect(await compare(one, two, packages)).toEqual([expected]);
    expect(packages === npmPackages ? await compare(one, two) : []).toEqual([]);
  });

  test.each<[string, PackageFile[], [ComparedFile, ComparedFile]]>([
    ["another package of npm", npmPackages, inTypeScript("packages/core/src/load.ts", "@x/core-extra")],
    ["the package around its own", npmPackages, inTypeScript("packages/core/src/load.ts", "x")],
    ["another module of Go with the same last name", [goModule], inGo("example.org/other/load")],
  ])("does not count if the import names %s", async (_, packages, [one, two]) => {
    expect(await compare(one, two, packages)).toEqual([]);
  });
});
