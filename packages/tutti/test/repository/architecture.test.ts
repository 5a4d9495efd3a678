import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { checkArchitecture, findUnusedEntries } from "./architecture.ts";
import { readFacts } from "./source-facts.ts";

const root = join(import.meta.dirname, "../../../..");

function sources() {
  return globSync("packages/{local-agent,tutti,web}/src/**/*.{ts,tsx}", { cwd: root }).map((path) => ({
    path: path.split(sep).join("/"),
    text: readFileSync(join(root, path), "utf8"),
  }));
}

/** Returns the problems of one planted file at a path below packages/tutti/src. */
function problemsOf(path: string, text: string): string[] {
  const full = path.startsWith("packages/") ? path : `packages/tutti/src/${path}`;
  return checkArchitecture([{ path: full, text }]).map((found) => found.problem);
}

test("the sources follow the architecture", () => {
  const files = sources();
  expect(files.length).toBeGreaterThan(5);
  const lines = checkArchitecture(files).map(({ path, line, problem }) => `${path}:${line} ${problem}`);
  expect(lines).toEqual([]);
});

test("every entry of the import table is used", () => {
  const files = sources();
  expect(findUnusedEntries(files)).toEqual([]);
  const rest = files.filter(({ path }) => !path.startsWith("packages/tutti/src/doctor/"));
  expect(findUnusedEntries(rest)).toContain("doctor → config");
});

describe("a message of an error", () => {
  /** Bugs, texts of other programs, questions to the user, lost attempts, which are retried, and texts of document 004. */
  const isExempt = (code: string | null, message: string): boolean =>
    ["internal", "needs_trust", "host_lost"].includes(code ?? "") ||
    /^(?:…|Circular inheritance detected: .*|Invalid template: .*)$/.test(message);
  /** A sentence that says what is wrong, then one that says what to do. */
  const hasRemedy = (message: string): boolean => /[.…]["”)]?\s+["A-Z…(-]/.test(message);
  const incomplete = (file: { path: string; text: string }): string[] =>
    readFacts(file).errors.flatMap(({ line, code, message }) =>
      isExempt(code, message) || hasRemedy(message) ? [] : [`${file.path}:${line} ${message}`],
    );

  test("says what is wrong and what to do", () => {
    const files = sources().filter(({ text }) => text.includes("new TuttiError("));
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(incomplete)).toEqual([]);
  });

  test.each([
    'throw new TuttiError("usage", "The value is wrong.");',
    'throw new TuttiError("usage", `The value "${value}" is wrong: ${reason}`);',
    'const problem = "It is wrong."; throw new TuttiError("usage", problem);',
    'throw new TuttiError("usage", isText ? "It is no text. Send text." : "It is wrong.");',
  ])("is incomplete: %s", (text) => {
    expect(incomplete({ path: "packages/tutti/src/cli/a.ts", text })).toHaveLength(1);
  });
});

describe("a planted violation is found:", () => {
  test.each([
    ["run imports the engine", "run/decide.ts", 'import { x } from "../engine/engine.ts";'],
    ["schema imports world", "schema/ids.ts", 'import type { World } from "../world.ts";'],
    ["world imports schema", "world.ts", 'import { x } from "./schema/ids.ts";'],
    ["client imports run", "client/client.ts", 'export { x } from "../run/run.ts";\nexport const y = 1;'],
    ["store imports run", "store/store.ts", 'export * from "../run/run.ts";\nexport const y = 1;'],
    ["mailbox imports store", "mailbox/lock.ts", 'const x = await import("../store/store.ts");'],
    ["session imports workspace", "session/keeper.ts", 'type X = import("../workspace/workspace.ts").X;'],
    ["template imports protocol", "template/load.ts", "const x = import(`../protocol/parse.ts`);"],
    ["workspace imports engine", "workspace/git.ts", 'import "../engine/engine.ts";'],
    ["engine imports server", "engine/engine.ts", 'import { type X } from "../server/routes.ts";'],
    ["module imports store", "module/worker-manager.ts", 'import { x } from "../store/store.ts";'],
    ["server imports run", "server/routes.ts", 'import { x } from "../run/run.ts";'],
    ["main imports cli", "main/open-engine.ts", 'import { x } from "../cli/version.ts";'],
    ["cli imports engine", "cli/list.ts", 'import { x } from "../engine/engine.ts";'],
    ["web imports engine", "packages/web/src/app.tsx", 'import { x } from "../../tutti/src/engine/engine.ts";'],
    ["web imports engine by the package's name", "packages/web/src/app.tsx", 'import { x } from "tutti/engine";'],
    ["web imports all of tutti", "packages/web/src/app.tsx", 'import { x } from "tutti";'],
    ["schema imports main from a subfolder", "schema/deep/a.ts", 'import { x } from "../../main/read-log.ts";'],
    ["session imports the built-in agent", "session/agents.ts", 'import "../../../local-agent/src/agent.ts";'],
    ["main imports the built-in agent", "main/open-engine.ts", 'await import("@tutti/local-agent");'],
    [
      "the built-in agent imports session",
      "packages/local-agent/src/agent.ts",
      'import "../../tutti/src/session/x.ts";',
    ],
    ["the built-in agent imports tutti", "packages/local-agent/src/write/page.ts", 'import { x } from "tutti";'],
    ["by require", "run/graph.ts", 'const x = require("../store/store.ts");'],
  ])("%s", (_title, path, text) => {
    const problems = problemsOf(path, text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^imports [\w-]+, which [\w-]+ may not$/);
  });

  test.each([
    [
      "a command that needs a server opens an engine",
      "cli/list.ts",
      'import { x } from "../main/local-engine.ts";',
      /works without a server/,
    ],
    ["a computed import", "engine/engine.ts", "await import(path);", /computed/],
    ["an import out of src", "engine/engine.ts", 'import { x } from "../../test/x.ts";', /not source/],
    ["node: in run", "run/decide.ts", 'import { join } from "node:path";', /browser/],
    ["a builtin without prefix in schema", "schema/ids.ts", 'import { createHash } from "crypto";', /browser/],
    ["node: in protocol, as a type", "protocol/parse.ts", 'import type { Stats } from "node:fs";', /browser/],
    ["node: in client, dynamic", "client/client.ts", 'await import("node:http");', /browser/],
    ["child_process in the server", "server/routes.ts", 'import { spawn } from "node:child_process";', /processes/],
    ["child_process in main", "main/open-engine.ts", 'import * as cp from "child_process";', /processes/],
    [
      "git elsewhere in the built-in agent",
      "packages/local-agent/src/read/manifests.ts",
      'spawn("git", ["status"]);',
      /git/,
    ],
    ["git in session", "session/process.ts", 'spawn("git", ["status"]);', /git/],
    ["git in session, by path", "session/process.ts", 'childProcess.execFileSync("/usr/bin/git", []);', /git/],
    ["git in session, in a shell", "session/process.ts", "exec(`git log ${x}`);", /git/],
    ["git in session, promisified", "session/process.ts", 'await execFileAsync("git", []);', /git/],
    ["an unknown folder", "extras/thing.ts", "export const x = 1;", /table of folders/],
    ["an unknown file at the top", "thing.ts", "export const x = 1;", /table of folders/],
    ["a folder with the name of a top file", "world/clock.ts", "export const x = 1;", /table of folders/],
    ["a file with the name of a folder", "run.ts", "export const x = 1;", /table of folders/],
    ["utils", "run/utils.ts", "export const x = 1;", /meaningless name: utils/],
    ["helpers", "run/graph-helpers.ts", "export const x = 1;", /meaningless name: helpers/],
    ["a folder named common", "engine/common/clock.ts", "export const x = 1;", /meaningless name: common/],
    ["types", "schema/types.ts", "export const x = 1;", /meaningless name: types/],
    ["a manager outside module", "engine/worker-manager.ts", "export const x = 1;", /meaningless name: manager/],
    ["a service", "packages/web/src/run.service.ts", "export const x = 1;", /meaningless name: service/],
    ["a default export", "run/decide.ts", "export default function decide() {}", /default/],
    ["a default export by name", "run/decide.ts", "const x = 1;\nexport { x as default };", /default/],
    ["an inner index", "run/index.ts", "export const x = 1;", /barrel/],
    ["an index in web", "packages/web/src/pages/index.tsx", "export const x = 1;", /barrel/],
    ["a re-export in main", "main/processes.ts", 'export { x } from "../session/process.ts";', /barrel/],
    ["a barrel by another name", "run/all.ts", 'export * from "./decide.ts";\nexport { x } from "./y.ts";', /barrel/],
  ])("%s", (_title, path, text, problem) => {
    const problems = problemsOf(path, text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test.each([
    "Date.now();",
    "const now = Date.now;",
    "const { now } = Date;",
    "new Date();",
    "Date();",
    "globalThis.Date.now();",
    "Math.random();",
    'Math["random"]();',
    "setTimeout(() => {}, 1);",
    "globalThis.setInterval(() => {}, 1);",
    "wait(setImmediate);",
    "performance.now();",
    "process.hrtime();",
    "crypto.randomUUID();",
    "const x = `${Date.now()}`;",
    "class A { at = Date.now() }",
    'import { randomUUID } from "node:crypto";',
    'import { setTimeout as sleep } from "node:timers/promises";',
  ])("time or chance outside World: %s", (text) => {
    const problems = problemsOf("engine/reconcile.ts", text);
    expect(problems).not.toEqual([]);
    expect(problems.every((problem) => /only World may|time or chance/.test(problem))).toBe(true);
  });

  test("with its line", () => {
    const text = '// first\n\nimport { x } from "../store/store.ts";\n';
    const violations = checkArchitecture([{ path: "packages/tutti/src/run/graph.ts", text }]);
    expect(violations).toEqual([
      { path: "packages/tutti/src/run/graph.ts", line: 3, problem: "imports store, which run may not" },
    ]);
  });
});

describe("sound code passes:", () => {
  test.each([
    ["an import of the own folder", "run/decide.ts", 'import { x } from "./deep/apply.ts";'],
    ["an import of a package", "schema/ids.ts", 'import { z } from "zod";'],
    [
      "the engine's whole row",
      "engine/engine.ts",
      'import { x } from "../run/run.ts";\nimport { y } from "../world.ts";',
    ],
    ["a command without a server", "cli/setup/serve.ts", 'const { x } = await import("../../main/local-server.ts");'],
    ["a command that looks at the log", "cli/list.ts", 'import { x } from "../main/read-log.ts";'],
    ["main imports a server", "main/open-engine.ts", 'import { x } from "../server/routes.ts";'],
    ["the public names", "index.ts", 'export { x } from "./module/orchestrator-module.ts";'],
    ["the manager names of the public classes", "module/worker-manager.ts", "export class WorkerManager {}"],
    ["git in workspace", "workspace/git.ts", 'import { execFile } from "node:child_process";\nexecFile("git", []);'],
    ["a pattern and the word git", "session/process.ts", '/x/.exec("git is here"); log("git");'],
    ["a date of a given time", "engine/feed.ts", "new Date(at).toISOString(); new Date(1, 2);"],
    ["a clock that is passed in", "engine/feed.ts", "world.now(); world.setTimeout(1); ({ setTimeout: 1 });"],
    ["a type of a timer", "engine/feed.ts", "let timer: ReturnType<typeof setTimeout>;"],
    ["a clock outside the deterministic folders", "session/keeper.ts", "Date.now();"],
    ["the package's own manifest", "main/version.ts", 'import data from "../../package.json" with { type: "json" };'],
    [
      "text that only looks like code",
      "run/graph.ts",
      `// import { x } from "../store/store.ts"; Date.now()
       /* export * from "../engine/engine.ts"; */
       const text = 'import "../engine/engine.ts"; setTimeout()';
       const template = \`import("../engine/engine.ts") \${text} Math.random()\`;
       const pattern = /import "..\\/engine\\/engine.ts"/;
       export { text, template, pattern };`,
    ],
    ["text of a page", "packages/web/src/page.tsx", "const x = <p>Don't `import '../engine' // from http://x</p>;"],
  ])("%s", (_title, path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });
});

test("`readFacts` reads every form of import", () => {
  const text = `
    import "a";
    import b from "b";
    import * as c from "c";
    import d, { type d1, d2 as d3 } from "d";
    import type { e1 } from "e";
    import f from "f" with { type: "json" };
    export * from "g";
    export * as h from "h";
    export { i } from "i";
    export type { j } from "j";
    export const x = async () => [await import("k"), import(\`l\`), import("m" + x)];
    type N = import("n").N;
    type O = typeof import("o");
    import {
      p, // a comment with from "nothing"
    } from /* "nothing" */ "p";
    import.meta.url;
    loader.import("nothing");
  `;
  const { imports } = readFacts({ path: "packages/tutti/src/run/x.ts", text });
  expect(imports.map(({ specifier }) => specifier ?? "computed").join(" ")).toBe(
    "a b c d e f g h i j k l computed n o p",
  );
});
