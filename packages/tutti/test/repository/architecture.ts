// The architecture as data, and its check. A change that needs another import edits `mayImport` in the same commit and
// gives the reason.
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path/posix";
import { readFacts, type SourceFacts, type SourceFile } from "./source-facts.ts";

export interface Violation {
  path: string;
  line: number;
  problem: string;
}

const everything = "everything";

/** Maps each folder, file at the top of src, or other package to the parts of Tutti that it may import besides itself. */
const mayImport: Record<string, readonly string[] | typeof everything> = {
  schema: [],
  world: [],
  // Where the programs and assets of the package are, in a clone, in a build and when installed.
  "own-files": [],
  "durable-file": ["schema"],
  // Bounds files that a repository or an agent provides.
  "foreign-file": [],
  // The sentences about a full disk and other conditions of the machine.
  "environment-fault": ["schema"],
  // The sentences about wrong members, for templates and messages.
  "explain-issue": [],
  // Fills the values into sentences for users, which the dashboard translates.
  sentence: [],
  // `problems` and `ignored` of an answer reach the user, too.
  protocol: ["schema", "explain-issue", "sentence"],
  // Tools as tables, and the server that offers them to agents.
  mcp: ["schema", "explain-issue"],
  run: ["schema", "sentence"],
  client: ["schema"],
  template: ["schema", "explain-issue", "world", "durable-file", "own-files"],
  // Completes templates and names agents, and reads the settings of schedules and notifications.
  config: ["schema", "template", "session", "schedule", "notify", "foreign-file"],
  // Creates runs at due times and for signed requests. It declares the interface that it needs of the engine.
  schedule: ["schema", "world", "durable-file"],
  store: ["schema", "environment-fault"],
  workspace: ["schema", "world", "durable-file", "foreign-file", "environment-fault"],
  mailbox: ["schema", "protocol", "world", "durable-file"],
  // Keepers offer tools to their agents.
  session: ["schema", "protocol", "mcp", "world", "durable-file", "foreign-file", "environment-fault", "own-files"],
  engine: ["schema", "protocol", "template", "run", "store", "session", "mailbox", "workspace", "world"],
  // Worker hosts: sessions and workspaces of the engine on other machines, over a database.
  fleet: ["schema", "world", "durable-file", "store", "session", "workspace", "engine"],
  // The documented constructors take a session controller, open an engine themselves, and return the folded state.
  module: ["schema", "protocol", "template", "run", "session", "engine", "world", "main"],
  // Observes the engine from outside: counts, logs and traces its events.
  telemetry: ["schema", "run", "engine", "world"],
  server: ["schema", "protocol", "mcp", "template", "engine", "schedule", "telemetry", "world", "durable-file"],
  // Sends notifications about events, and runs the user's own command for them.
  notify: ["schema", "run", "session", "world", "durable-file"],
  // Inspects the machine with the modules that know it: programs, git, the store and the user's configuration.
  doctor: ["schema", "sentence", "config", "notify", "store", "session", "workspace", "world", "own-files"],
  // Folds a server's run by the same rules to follow it in a terminal. Engines and servers come from `main`; the rest
  // are parts that work without either: message files, templates, checks of the machine, sample projects.
  cli: [
    "schema",
    "client",
    "run",
    "main",
    "mcp",
    "protocol",
    "mailbox",
    "template",
    "config",
    "doctor",
    "session",
    "workspace",
    "telemetry",
    "explain-issue",
    "world",
    "own-files",
  ],
  web: ["schema", "sentence", "client", "run"],
  // A program on the public protocol of agents. Like any other agent, it shares no code with Tutti.
  "local-agent": [],
  // The composition root. It may import neither commands nor the client nor the public classes.
  main: [
    "schema",
    "own-files",
    "config",
    "engine",
    "fleet",
    "template",
    "session",
    "store",
    "workspace",
    "world",
    "durable-file",
    "notify",
    "schedule",
    "server",
    "telemetry",
    // The server shows the checks of the machine.
    "doctor",
  ],
  index: everything,
};

/**
 * Commands that work without a server, and the shared engine of the classes of document 004. All other commands use the
 * client.
 */
const filesThatOpenAnEngine = [
  "cli/setup/serve.ts",
  "cli/setup/serve-folder.ts",
  "cli/setup/demo.ts",
  "cli/setup/rehearse.ts",
  "cli/setup/conformance.ts",
  "cli/access/open-runs.ts",
  "cli/access/joined-engine.ts",
  "cli/access/local-runs.ts",
  "cli/mcp/runs-link.ts",
  "module/shared-engine.ts",
];
/** The files of main that open an engine. The others only read, and every command may use them. */
const openers = ["open-engine.ts", "local-engine.ts", "local-server.ts", "rehearsal.ts", "conformance.ts"];

/** Files that import a path computed at run time, such as a user's configuration. */
const filesThatImportComputed: string[] = [];

const topFiles = [
  "world",
  "explain-issue",
  "sentence",
  "durable-file",
  "foreign-file",
  "own-files",
  "environment-fault",
  "index",
];
const browserSafe = ["run", "protocol", "schema", "client"];
const deterministic = ["run", "protocol", "engine"];
const startProcesses = ["session", "workspace"];
/** The built-in agent is a program of its own, so it cannot use `workspace`. Only this file may run git there. */
const gitOfLocalAgent = "packages/local-agent/src/read/shared-facts.ts";
/** The editor and the browser of the user belong to the command, so no session can run them. */
const filesThatStartPrograms = ["cli/terminal/edit-file.ts", "cli/terminal/open-browser.ts", gitOfLocalAgent];

const clocksAndChance = new Set([
  "Date()",
  "Date.now",
  "new Date",
  "Math.random",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "performance.now",
  "process.hrtime",
  "process.hrtime.bigint",
  "crypto.randomUUID",
  "crypto.getRandomValues",
]);
const modulesOfTime = ["timers", "timers/promises", "perf_hooks"];

/** Words that do not describe a file. */
const emptyWords = ["util", "utils", "helper", "helpers", "common", "types", "manager", "service"];

const tuttiSource = "packages/tutti/src/";
const webSource = "packages/web/src/";
const localAgentSource = "packages/local-agent/src/";

export function checkArchitecture(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const facts = readFacts(file);
    const part = partOf(file.path);
    const problems = [
      ...checkName(file.path, part),
      ...checkImports(file.path, part, facts),
      ...checkWorld(part, facts),
      ...checkGit(file.path, part, facts),
      ...facts.defaultExports.map(({ line }) => ({ line, problem: "has a default export" })),
    ];
    if (facts.onlyReExports && part !== "index") problems.push({ line: 1, problem: "is a barrel" });
    return problems.map((found) => ({ path: file.path, ...found }));
  });
}

/** Returns the entries of `mayImport` that no file needs. */
export function findUnusedEntries(files: readonly SourceFile[]): string[] {
  const used = new Set(
    files.flatMap((file) =>
      readFacts(file).imports.map(({ specifier }) => `${partOf(file.path)} ${targetOf(file.path, specifier ?? "")}`),
    ),
  );
  return Object.entries(mayImport).flatMap(([part, row]) =>
    row === everything ? [] : row.filter((target) => !used.has(`${part} ${target}`)).map((to) => `${part} → ${to}`),
  );
}

type Problem = Omit<Violation, "path">;

/** Returns the row of `mayImport` for a path, or undefined outside of the src folders. */
function partOf(path: string): string | undefined {
  if (path.startsWith(webSource)) return "web";
  if (path.startsWith(localAgentSource)) return "local-agent";
  if (!path.startsWith(tuttiSource)) return undefined;
  return path.slice(tuttiSource.length).split("/")[0]?.replace(/\.ts$/, "");
}

function checkName(path: string, part: string | undefined): Problem[] {
  const problems: Problem[] = [];
  const atTop = dirname(path) + "/" === tuttiSource;
  const isPackage = part === "web" || part === "local-agent";
  const known = part !== undefined && part in mayImport && (isPackage || atTop === topFiles.includes(part));
  if (!known) problems.push({ line: 1, problem: "is not in the table of folders" });
  const inner = path.replace(tuttiSource, "").replace(webSource, "").replace(localAgentSource, "");
  // The classes of document 004 have public names, and a file is named after its export.
  const allowed = part === "module" ? ["manager"] : [];
  for (const word of inner.split(/[/.-]/)) {
    if (emptyWords.includes(word) && !allowed.includes(word)) {
      problems.push({ line: 1, problem: `has a meaningless name: ${word}` });
    }
  }
  if (/^index\.tsx?$/.test(basename(path)) && !atTop) problems.push({ line: 1, problem: "is a barrel" });
  return problems;
}

function checkImports(path: string, part: string | undefined, facts: SourceFacts): Problem[] {
  return facts.imports.flatMap(({ line, specifier }) => {
    const problem = problemOfImport(path, part ?? "", specifier);
    return problem === undefined ? [] : [{ line, problem }];
  });
}

function problemOfImport(path: string, part: string, specifier: string | null): string | undefined {
  const file = path.replace(tuttiSource, "");
  if (specifier === null) return filesThatImportComputed.includes(file) ? undefined : "imports a computed address";
  if (isBuiltin(specifier)) {
    if (browserSafe.includes(part)) return `must run in a browser and imports ${specifier}`;
    const mayStart = startProcesses.includes(part) || filesThatStartPrograms.includes(file);
    if (moduleName(specifier) === "child_process" && !mayStart) {
      return `starts processes: imports ${specifier}`;
    }
    return undefined;
  }
  const target = targetOf(path, specifier);
  if (target === undefined || target === part) return undefined;
  if (target === "outside") return `imports ${specifier}, which is not source`;
  const row = mayImport[part];
  if (row === everything && target !== "local-agent") return undefined;
  if (row === undefined || row === everything || !row.includes(target))
    return `imports ${target}, which ${part} may not`;
  if (target === "main" && openers.includes(basename(specifier)) && !filesThatOpenAnEngine.includes(file)) {
    return part === "cli"
      ? "opens an engine, and is not a command that works without a server"
      : "opens an engine, and is not the stage that does";
  }
  return undefined;
}

/** Returns the row that a specifier leads to, or undefined for other packages and for data. */
function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) {
    const target = join(dirname(path), specifier);
    return partOf(target) ?? (target.endsWith(".json") ? undefined : "outside");
  }
  const [name, first] = specifier.split("/");
  if (name === "tutti") return first === undefined ? "index" : first;
  return name === "@tutti" ? first : undefined;
}

function checkWorld(part: string | undefined, facts: SourceFacts): Problem[] {
  if (part === undefined || !deterministic.includes(part)) return [];
  const used = facts.uses.filter(({ name }) => clocksAndChance.has(name));
  const imported = facts.imports.filter(({ specifier, names }) => {
    const module = moduleName(specifier ?? "");
    return modulesOfTime.includes(module) || (module === "crypto" && names.some((name) => name.startsWith("random")));
  });
  return [
    ...used.map(({ line, name }) => ({ line, problem: `uses ${name}, which only World may` })),
    ...imported.map(({ line, specifier }) => ({ line, problem: `imports time or chance from ${specifier}` })),
  ];
}

function checkGit(path: string, part: string | undefined, facts: SourceFacts): Problem[] {
  if (part === "workspace" || path === gitOfLocalAgent) return [];
  // Matches `execFile`, `childProcess.execFile` and `execFileAsync`, but not the `exec` of a pattern.
  const starts = /^(\w*process\w*\.)?(spawn|exec|fork)\w*$/i;
  return facts.calls
    .filter(({ callee, firstArgument }) => starts.test(callee) && /^(\S*\/)?git(\s|$)/.test(firstArgument))
    .map(({ line }) => ({ line, problem: "runs git, which only workspace may" }));
}

function moduleName(specifier: string): string {
  return specifier.replace(/^node:/, "");
}
