// The mistakes that trials found in the pages, each with the check that would have caught it.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findLeftovers } from "../src/check/find-leftovers.ts";
import { nameComponents } from "../src/understand/name-components.ts";
import { readIntroduction } from "../src/write/introduction.ts";
import { MAX_PAGE_LINES } from "../src/write/page-limits.ts";
import { prose } from "../src/write/prose.ts";
import { AgentSession, type Block, lastBlock } from "./agent-session.ts";
import {
  answerPrompt,
  copyOf,
  documentRepository,
  type DocumentedRun,
  makeRepository,
  removeTemporaryFolders,
} from "./document.ts";

afterAll(removeTemporaryFolders);

const SHOP = {
  "README.md":
    "[![badge](https://example.org/b.svg)](https://example.org)\n\n# Shop\n\nWe're excited to announce Shop 2.0!\n\n> Note\n\nSells books with [`find`](https://example.org/find).\n",
  "Cargo.toml":
    '[workspace]\nmembers = ["crates/*"]\n[workspace.package]\ndescription = "Shared"\n[workspace.dependencies]\nserde = "1.0"\n',
  "crates/core/Cargo.toml":
    '[package]\nname = "shop-core"\ndescription = "TBD"\n[dependencies.log]\nversion = "0.4"\ndefault-features = false\nfeatures = ["std"]\n[dependencies]\nserde.workspace = true\n',
  "crates/core/src/lib.rs":
    "#![allow(dead_code)]\n//! Knows the stock.\n\npub mod stock;\n\n/// Counts books.\npub fn count() -> usize { stock::all() }\n",
  "crates/core/src/stock.rs": "/// All books.\npub fn all() -> usize { 1 }\n",
  "crates/cli/Cargo.toml":
    '[package]\nname = "shop-cli"\ndescription.workspace = true\n[dependencies]\nshop-core = { path = "../core" }\n',
  "crates/cli/src/main.rs": '// Starts it.\nfn main() {\n    println!("{}", shop_core::count());\n}\n',
  "ci/utils.sh": "#!/bin/sh\n# Helpers.\nhost() { uname; }\n",
  Makefile: "build:\n\t@echo building\n\tcargo build --release\nempty:\n",
};

describe("the documentation of a workspace", () => {
  const first: Promise<DocumentedRun> = documentRepository(makeRepository(SHOP));

  test("has the real name and purpose, and commands with an effect", async () => {
    const overview = (await first).pages.get("docs/README.md")!;
    expect(overview).toContain("# Shop\n\nSells books with [`find`](https://example.org/find).\n");
    expect(overview).toContain("| `cargo test` | runs the tests |");
    expect(overview).toContain("| `make build` | runs `cargo build --release` |");
    expect(overview).not.toContain("make empty");
    expect(overview).not.toMatch(/excited|TBD/);
  });

  test("lists packages and no keys of their tables, with the crates that use them", async () => {
    const overview = (await first).pages.get("docs/README.md")!;
    expect(overview).toContain("| `log` | `0.4` |");
    expect(overview).toContain("| `serde` | `1.0` |");
    expect(overview).not.toMatch(/default-features|`features`|`members`/);
    expect((await first).pages.get("docs/shop-core.md")).toContain("## Used by\n\n- [shop-cli](shop-cli.md): `count`");
    expect(overview).not.toContain("utils.sh`](../ci/utils.sh), started as a program");
  });

  test("draws exactly the imports of the code, each with its proof", async () => {
    const architecture = (await first).pages.get("docs/architecture.md")!;
    expect(architecture).toMatch(/c\d+\["shop-cli"\]/);
    expect([...architecture.matchAll(/ --> /g)]).toHaveLength(1);
    expect(architecture).toContain(
      "| [shop-cli](shop-cli.md) | [shop-core](shop-core.md) | [`crates/cli/src/main.rs`](../crates/cli/src/main.rs) imports [`crates/core/src/lib.rs`](../crates/core/src/lib.rs) |",
    );
    expect((await first).verification.data).toMatchObject({ status: "passed", issues: [] });
  });

  test.each<[string, string, (text: string) => string, string]>([
    [
      "an arrow that no import proves",
      "architecture.md",
      (text) => text.replace(/(c\d+) --> (c\d+)/, "$2 --> $1"),
      "No import proves the arrow",
    ],
    [
      "a name at another line",
      "shop-core.md",
      (text) => text.replace("lib.rs#L7)", "lib.rs#L6)"),
      "count is declared on line 7",
    ],
    [
      "the page of another component",
      "shop-core.md",
      (text) => text.replace("# shop-core", "# shop-cli"),
      "is about shop-cli",
    ],
    [
      "the end of a comment as a purpose",
      "shop-core.md",
      (text) => text.replace("Knows the stock.", "*/"),
      "only a comment mark",
    ],
    [
      "an empty row",
      "README.md",
      (text) => text.replace("| `cargo test` | runs the tests |", "| `cargo test` |  |"),
      "is empty",
    ],
    ["a broken link", "README.md", (text) => text.replace("(shop-core.md)", "(lost.md)"), "does not resolve"],
  ])("%s is found by the verification", async (_, page, change, problem) => {
    const run = await first;
    const root = copyOf(run.root);
    const path = join(root, "docs", page);
    const text = readFileSync(path, "utf8");
    expect(change(text)).not.toBe(text);
    writeFileSync(path, change(text));
    expect(descriptions(await verify(root, run)).join("\n")).toContain(problem);
  });

  test("a page that was lost after its task is written again by the aggregation, and else found", async () => {
    const run = await first;
    const root = copyOf(run.root);
    rmSync(join(root, "docs/shop-core.md"));
    expect(descriptions(await verify(root, run))).toContain(
      "The component shop-core has no page, although its task reported one.",
    );
    await answerPrompt(root, "aggregation", { WORKER_OUTPUTS: outputsOf(run) });
    expect(readFileSync(join(root, "docs/shop-core.md"), "utf8")).toBe(run.pages.get("docs/shop-core.md"));
    expect(await verify(root, run)).toMatchObject({ data: { status: "passed" } });
  });

  test("a fault that the agent cannot mend is a partial result of the overview", async () => {
    const run = await first;
    const root = copyOf(run.root);
    const path = join(root, "docs/shop-core.md");
    writeFileSync(path, readFileSync(path, "utf8").replace("Knows the stock.", "*/"));
    const variables = { TASK_ID: "t", TASK_TITLE: "Write the overview", TASK_SCOPE: '["docs/README.md"]' };
    const { data } = lastBlock(await answerPrompt(root, "workerExecution", variables));
    expect(data).toMatchObject({ status: "partial" });
    expect(data["error"]).toMatch(/^docs\/shop-core\.md:\d+: The line is only a comment mark\.$/);
  });
});

describe("the variables of the template", () => {
  const small = makeRepository({ "a.ts": "export const a = 1;\n" });
  const session = new AgentSession(small);
  afterAll(() => session.close());

  test("choose the folder, the examples and the audience", async () => {
    const source = join(import.meta.dirname, "fixtures/harbor");
    const variables = { DOCS_FOLDER: "handbook/code", INCLUDE_EXAMPLES: "false", AUDIENCE: "harbor masters" };
    const run = await documentRepository(source, undefined, variables);
    expect([...run.pages.keys()].every((path) => path.startsWith("handbook/code/"))).toBe(true);
    expect(run.pages.get("handbook/code/README.md")).toContain("Written for harbor masters.");
    expect([...run.pages.values()].join("\n")).not.toContain("Used like this");
    expect(run.verification.data).toMatchObject({ status: "passed", issues: [] });
  });

  test.each([
    ["LANGUAGE", "Deutsch", "writes English only"],
    ["DOCS_FOLDER", "../elsewhere", "Name a folder inside the repository"],
    ["DOCS_FOLDER", "/etc", "Name a folder inside the repository"],
  ])("refuse %s=%s with a remedy", async (name, value, reason) => {
    expect((await session.ask("analysis", { [name]: value })).at(-1)?.error).toContain(reason);
  });

  test("that the agent cannot follow are named in the analysis", async () => {
    const variables = { CUSTOM_INSTRUCTIONS: "Be funny.", PROJECT_NAME: "tool" };
    const { data } = lastBlock(await answerPrompt(small, "analysis", variables));
    expect(data["warnings"]).toContain("The local agent cannot follow CUSTOM_INSTRUCTIONS, because it has no model.");
    expect(data["summary"]).toContain("tool has 1 source file");
  });
});

test("components of the same name get longer names until all differ", () => {
  const part = (folder: string) => ({ folder, files: [`${folder}/a.rs`], prefix: null });
  const named = nameComponents(
    ["crates/next-core", "crates/next-core/src", "turbo/next-core", "x/src", "x"].map(part),
    [],
  );
  expect(new Set(named.map(({ name }) => name.toLowerCase())).size).toBe(5);
  expect(new Set(named.map(({ slug }) => slug)).size).toBe(5);
});

test("a package of Python offers all names that it imports from private modules with an asterisk", async () => {
  const { pages } = await documentRepository(
    makeRepository({
      "web/__init__.py": "from ._client import *\nfrom ._parts import *\n",
      "web/_client.py":
        '__all__ = ["Client"]\n\n\nclass Client:\n    """Sends requests."""\n\n\nclass Pool:\n    pass\n',
      "web/_parts/__init__.py": "def join():\n    return 1\n",
      "web/_hidden.py": "def hide():\n    return 1\n",
    }),
  );
  const all = [...pages.values()].join("\n");
  expect(all).toContain("Sends requests.");
  expect(all).toContain("#### `join`");
  expect(all).not.toMatch(/Pool|`hide`/);
});

test("a module of Go is called by its name, not by its version, and its examples are no components", async () => {
  const { pages } = await documentRepository(
    makeRepository({
      "go.mod": "module example.org/router/v5\n",
      "router.go": "// Package router routes.\npackage router\n\nfunc New() int { return 1 }\n",
      "cmd/own/go.mod": "module example.org/own\n",
      "cmd/own/main.go": 'package main\n\nimport "example.org/router/v5"\n\nfunc main() { router.New() }\n',
      "_examples/hello/main.go": "package main\n\nfunc main() {}\n",
    }),
  );
  expect([...pages.keys()]).toEqual(["docs/README.md", "docs/architecture.md", "docs/own.md", "docs/router.md"]);
  // `go run` at the root does not reach a module below it.
  expect(pages.get("docs/README.md")).not.toContain("go run");
  expect(pages.get("docs/architecture.md")).toContain("`](../cmd/own/main.go) imports the package of [`router.go`]");
});

test("a global using of C# counts for the whole project, and a comment is no use", async () => {
  const files = {
    "Log.sln": "",
    "src/Log/Log.csproj": "<Project><PropertyGroup><Description>Writes logs.</Description></PropertyGroup></Project>",
    "src/Log/GlobalUsings.cs": "global using Log.Events;\nglobal using Log.Sinks;\n",
    "src/Log/Logger.cs": "namespace Log;\npublic class Logger { public void Write(LogEvent e) { } }\n",
    "src/Log/Events/LogEvent.cs":
      'namespace Log.Events;\n/// <summary>See <see cref="FileSink"/>.</summary>\npublic class LogEvent { }\n',
    "src/Log/Sinks/FileSink.cs": "namespace Log.Sinks;\npublic class FileSink { public void Emit(LogEvent e) { } }\n",
  };
  const filler = Object.fromEntries(
    ["Events", "Sinks"].flatMap((name) =>
      Array.from({ length: 8 }, (_, index) => [
        `src/Log/${name}/${name}${index}.cs`,
        `namespace Log.${name};\npublic class ${name}${index} { }\n`.padEnd(4_000, "// filler\n"),
      ]),
    ),
  );
  const { pages } = await documentRepository(makeRepository({ ...files, ...filler }));
  const architecture = pages.get("docs/architecture.md")!;
  const edges = [...architecture.matchAll(/^\| \[(\w+)\].*?\| \[(\w+)\]/gm)].map(([, from, to]) => `${from} ${to}`);
  expect(edges).toEqual(["Log Events", "Sinks Events"]);
  expect(architecture).toContain("`](../src/Log/Logger.cs) uses [`src/Log/Events/LogEvent.cs`]");
  const overview = pages.get("docs/README.md")!;
  expect(overview).toContain("| `dotnet build` | builds the project |");
  // Most files of the package belong to other components, so its description is not about the rest.
  expect(overview).not.toContain("| [Log](log.md) | Writes logs.");
});

test("a module of Maven is no dependency of the project", async () => {
  const module = (name: string, dependency: string) =>
    `<project><parent><groupId>org.shop</groupId><artifactId>shop</artifactId></parent><artifactId>${name}</artifactId><dependencies><dependency><groupId>${dependency}</groupId><artifactId>core</artifactId><version>1</version></dependency></dependencies></project>`;
  const { pages } = await documentRepository(
    makeRepository({
      "pom.xml":
        "<project><groupId>org.shop</groupId><artifactId>shop</artifactId><modules><module>core</module></modules></project>",
      "core/pom.xml": module("core", "org.other"),
      "core/src/main/java/Core.java": "/** Counts. */\npublic class Core { }\n",
      "web/pom.xml": module("web", "org.shop"),
      "web/src/main/java/Web.java": "/** Serves. */\npublic class Web { }\n",
    }),
  );
  expect(pages.get("docs/README.md")).toContain("| `org.other:core` | `1` |");
  expect(pages.get("docs/README.md")).not.toContain("org.shop:core");
});

describe("a page with many names", () => {
  const pageOf = async (files: Record<string, string>): Promise<string> => {
    const { pages, verification } = await documentRepository(makeRepository(files));
    expect(verification.data).toMatchObject({ status: "passed" });
    return [...pages].find(([path]) => path !== "docs/README.md")![1];
  };

  test("loses details before it becomes longer than its limit", async () => {
    const words = " * A sentence about this name.\n *\n".repeat(6);
    const names = Array.from(
      { length: 120 },
      (_, index) => `/**\n${words} */\nexport const name${index} = ${index};\n`,
    );
    const page = await pageOf({ "names.ts": names.join("\n") });
    expect(page.split("\n").length).toBeLessThanOrEqual(MAX_PAGE_LINES);
    expect([...page.matchAll(/^#### `name\d+`$/gm)]).toHaveLength(120);
  });

  test("becomes a table of bounded length, which counts the names that it leaves out", async () => {
    const names = (file: number): string =>
      Array.from({ length: 10 }, (_, index) => `export const name${file}x${index} = 1;\n`).join("");
    const files = Array.from({ length: 200 }, (_, file) => [`f${file}.ts`, names(file)]);
    const page = await pageOf(Object.fromEntries(files));
    expect(page.split("\n").length).toBeLessThanOrEqual(MAX_PAGE_LINES);
    expect(page).toContain("The files contain 1600 more public names.");
  });
});

test("a single file of tests at the root is no component", async () => {
  const { pages } = await documentRepository(
    makeRepository({
      "a.gemspec": 's.summary = "Serves."\n',
      "test.rb": "class T\nend\n",
      "lib/a.rb": "class A\nend\n",
    }),
  );
  expect([...pages.keys()]).toEqual(["docs/README.md", "docs/lib.md"]);
});

test("a README's own title and paragraph count, not pictures, news and sections", () => {
  const html = '<h1 align="center">\n<a href="x">Next</a>\n</h1>\n<p>The <b>framework</b> for the web.</p>\n';
  expect(readIntroduction(html, "README.md")).toEqual({ title: "Next", text: "The framework for the web." });
  const section = "![logo](l.png)\n\n# Overview\n\nMakes commands of all kinds.\n";
  expect(readIntroduction(section, "README.md")).toEqual({ title: "", text: "Makes commands of all kinds." });
  const rst = "Click\n=====\n\n.. image:: x.png\n\nClick is a package for :class:`Command` lines.\n";
  expect(readIntroduction(rst, "README.rst")).toEqual({
    title: "Click",
    text: "Click is a package for `Command` lines.",
  });
  const rust = "# itoa :rocket:\n\nWrites numbers faster than the `core::fmt::Formatter` of Rust.\n";
  expect(readIntroduction(rust, "README.md")).toEqual({
    title: "itoa",
    text: "Writes numbers faster than the `core::fmt::Formatter` of Rust.",
  });
});

test("comments keep web links and lose links that mean nothing on a page", () => {
  expect(prose("See [every\nrelease](https://example.org/r) and [`a`](https://example.org/a_(b)).")).toBe(
    "See [every release](https://example.org/r) and [`a`](https://example.org/a_%28b%29).",
  );
  expect(
    prose("Uses [`Regex`](crate::Regex), [`Set`] and [text][ref].\n\n[ref]: https://example.org\n\n# Examples"),
  ).toBe("Uses `Regex`, `Set` and text.\n\n**Examples**");
});

test("leftovers are found outside code only", () => {
  const page =
    "<!-- mark -->\n# A\n\n```js\n// fine\n```\n\n`:class:` is fine.\n\n:class:`Bad` and {@link Bad}\n\n| a | b |\n| --- | --- |\n| `x` |  |\n| y | `n`, `n` |\n";
  expect(findLeftovers(page).map(({ line }) => line)).toEqual([10, 10, 14, 15]);
});

async function verify(root: string, run: DocumentedRun): Promise<Block> {
  return lastBlock(await answerPrompt(root, "verification", { WORKER_OUTPUTS: outputsOf(run) }));
}

const outputsOf = (run: DocumentedRun): string => JSON.stringify(run.completions.map(({ block }) => block.data));

const descriptions = ({ data }: Block): string[] =>
  (data["issues"] as { description: string }[]).map(({ description }) => description);
