// For every command one call that succeeds and one that is refused. All agents are scripted.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { goodWorker } from "../lab/scenarios.ts";
import { assignment } from "../mailbox/mailbox-lab.ts";
import type { Scene } from "../server/route-cases.ts";

export interface CommandCase {
  /** Arguments that succeed; null for a command that needs a database or runs until a signal ends it. */
  good: ((scene: CommandScene) => string[] | Promise<string[]>) | null;
  /** Arguments that the command refuses. */
  bad: (scene: CommandScene) => string[];
  /** Whether the command prints JSON lines; all others print one value. */
  streams?: true;
  /** Exit codes of `good`, if not just 0. */
  codes?: readonly number[];
}

/** The runs of a server, and a data folder that the server does not use. */
export class CommandScene {
  readonly runs: Scene;
  readonly folder: string;

  constructor(runs: Scene) {
    this.runs = runs;
    this.folder = join(runs.lab.lab.folder, "beside");
    mkdirSync(this.folder);
  }

  /** Adds the flags that select the server. */
  at(...args: string[]): string[] {
    const { server, token } = this.runs.lab;
    return ["--data-dir", join(this.folder, "data"), "--url", server.url, "--token", token, ...args];
  }

  /** Adds only the data folder, for a command that needs no server. */
  here(...args: string[]): string[] {
    return ["--data-dir", join(this.folder, "data"), ...args];
  }

  /** Adds the data folder of the server, for a command that reads its log. */
  onServersData(...args: string[]): string[] {
    return ["--data-dir", this.runs.lab.lab.data, ...args];
  }

  write(name: string, content: unknown): string {
    const file = join(this.folder, name);
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  }

  template(id: string): string {
    return this.write(`${id}.json`, this.runs.template(id));
  }

  async created(): Promise<string> {
    return this.runs.run([{ id: "a" }], [goodWorker]);
  }

  async paused(): Promise<string> {
    const id = await this.runs.waiting();
    await this.runs.lab.engine.order(id, "pause");
    return id;
  }

  /** Creates an ended run with a task that fails in every attempt. */
  async failed(): Promise<string> {
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const fails = { match: { role: "worker" }, turns: [{ tools: ["Read"], block: failure }] };
    const id = await this.runs.run([{ id: "a" }], [fails], { autoStart: true, config: { autoSpawn: true } });
    await this.runs.lab.until(id, ({ released }) => released);
    return id;
  }
}

const MESSAGE = { phase: "completion", data: { task_id: "a", status: "success" } };
const unknownId =
  (command: string, ...more: string[]) =>
  (scene: CommandScene) =>
    scene.at(command, "nobody", ...more);
const noSuchFlag =
  (...command: string[]) =>
  () => [...command, "--no-such-flag"];
const withUrl =
  (...command: string[]) =>
  (scene: CommandScene) =>
    scene.at(...command);
const missing =
  (...command: string[]) =>
  (scene: CommandScene) => [...scene.here(...command), join(scene.folder, "missing")];

export const COMMANDS: Record<string, CommandCase> = {
  run: {
    good: (scene) => {
      const agent = scene.runs.scenario([{ id: "a" }], [goodWorker]);
      return scene.at("run", "x", "--cwd", scene.runs.lab.lab.repo, "--agent", agent, "--yes");
    },
    bad: (scene) => scene.at("run", "x", "--cwd", scene.runs.lab.lab.repo, "--agent", "nobody"),
    streams: true,
  },
  serve: { good: null, bad: (scene) => scene.here("serve", "--port", "nonsense") },
  open: { good: (scene) => scene.at("open", scene.runs.ended), bad: unknownId("open") },
  mcp: { good: null, bad: (scene) => scene.here("mcp", "--http", "nonsense") },
  demo: { good: null, bad: noSuchFlag("demo") },
  init: {
    good: (scene) => scene.here("init", join(scene.folder, "project")),
    bad: (scene) => scene.here("init", scene.write("a-file", "")),
  },
  rehearse: {
    good: (scene) => scene.here("rehearse", "documentation", "--tasks", "1"),
    bad: unknownId("rehearse"),
    streams: true,
  },
  // The exit code depends on the machine.
  conformance: {
    good: (scene) => scene.here("conformance", "--agent", "text:cat", "--suite", "response"),
    bad: (scene) => scene.here("conformance", "--agent", "text:cat", "--suite", "speech"),
    codes: [1],
  },
  doctor: { good: (scene) => scene.here("doctor"), bad: withUrl("doctor"), codes: [0, 1] },
  list: { good: (scene) => scene.at("list"), bad: noSuchFlag("list") },
  status: { good: (scene) => scene.at("status", scene.runs.ended), bad: unknownId("status") },
  diff: { good: (scene) => scene.at("diff", scene.runs.ended), bad: unknownId("diff") },
  summary: { good: (scene) => scene.at("summary", scene.runs.ended), bad: unknownId("summary") },
  merge: { good: (scene) => scene.at("merge", scene.runs.ended), bad: unknownId("merge") },
  drop: { good: (scene) => scene.at("drop", scene.runs.ended), bad: unknownId("drop") },
  logs: { good: (scene) => scene.at("logs", scene.runs.ended, "--tail", "5"), bad: unknownId("logs"), streams: true },
  inbox: { good: (scene) => scene.at("inbox"), bad: noSuchFlag("inbox") },
  start: {
    good: async (scene) => scene.at("start", await scene.created(), "--yes"),
    bad: unknownId("start"),
    streams: true,
  },
  attach: { good: (scene) => scene.at("attach", scene.runs.ended), bad: unknownId("attach"), streams: true },
  confirm: {
    good: async (scene) => scene.at("confirm", await scene.runs.waiting()),
    bad: missing("confirm", "nobody", "--edit"),
    streams: true,
  },
  pause: { good: async (scene) => scene.at("pause", await scene.runs.waiting()), bad: unknownId("pause") },
  resume: {
    good: async (scene) => scene.at("resume", await scene.paused(), "--yes"),
    bad: unknownId("resume"),
    streams: true,
  },
  cancel: { good: async (scene) => scene.at("cancel", await scene.created()), bad: unknownId("cancel") },
  delete: { good: async (scene) => scene.at("delete", await scene.created()), bad: unknownId("delete") },
  retry: {
    good: async (scene) => scene.at("retry", await scene.failed(), "a"),
    bad: unknownId("retry", "a"),
    streams: true,
    codes: [1],
  },
  override: {
    good: async (scene) => scene.at("override", await scene.runs.gated(), "staging", "An outage"),
    bad: unknownId("override", "staging", "An outage"),
  },
  message: {
    good: async (scene) => scene.at("message", await scene.created(), "be brief"),
    bad: unknownId("message", "x"),
  },
  answer: {
    good: async (scene) => {
      const id = await scene.runs.waiting();
      const [item] = Object.keys(scene.runs.lab.engine.get(id)!.inbox);
      return scene.at("answer", item!, "--approve");
    },
    bad: unknownId("answer", "--approve"),
    streams: true,
  },
  "templates list": { good: (scene) => scene.at("templates", "list"), bad: noSuchFlag("templates", "list") },
  "templates show": {
    good: (scene) => scene.at("templates", "show", "documentation"),
    bad: (scene) => scene.at("templates", "show", "nobody"),
  },
  "templates validate": {
    good: (scene) => scene.here("templates", "validate", scene.template("checked")),
    bad: missing("templates", "validate"),
  },
  "templates create": {
    good: (scene) => scene.at("templates", "create", scene.template("made")),
    bad: missing("templates", "create"),
  },
  "templates import": {
    good: (scene) => scene.at("templates", "import", scene.template("brought")),
    bad: missing("templates", "import"),
  },
  "templates export": {
    good: (scene) => scene.at("templates", "export", "documentation"),
    bad: (scene) => scene.at("templates", "export", "nobody"),
  },
  "templates duplicate": {
    good: (scene) => scene.at("templates", "duplicate", "documentation", "A copy"),
    bad: (scene) => scene.at("templates", "duplicate", "nobody", "A copy"),
  },
  "templates delete": {
    good: (scene) => scene.at("templates", "delete", scene.runs.storeTemplate("outlived")),
    bad: (scene) => scene.at("templates", "delete", "nobody"),
  },
  "templates preview": {
    good: (scene) => scene.at("templates", "preview", "documentation"),
    bad: (scene) => scene.at("templates", "preview", "nobody"),
  },
  "schedules list": {
    good: (scene) => {
      scene.runs.automate("nightly");
      return scene.at("schedules", "list");
    },
    bad: (scene) => scene.here("schedules", "list"),
  },
  "schedules run": {
    good: (scene) => scene.at("schedules", "run", scene.runs.automate("by-command").params.name),
    bad: (scene) => scene.at("schedules", "run", "nobody"),
  },
  triggers: { good: (scene) => scene.at("triggers"), bad: (scene) => scene.here("triggers") },
  export: { good: (scene) => scene.at("export", scene.runs.ended), bad: unknownId("export"), streams: true },
  import: {
    good: (scene) => scene.at("import", scene.write("run.jsonl", scene.runs.copy("orch_importedhere"))),
    bad: missing("import"),
  },
  replay: { good: (scene) => scene.at("replay", scene.runs.ended), bad: unknownId("replay"), streams: true },
  fork: { good: (scene) => scene.at("fork", scene.runs.ended), bad: unknownId("fork") },
  restore: {
    good: (scene) => [...scene.onServersData("restore", scene.runs.ended, "a"), "--into", join(scene.folder, "back")],
    bad: (scene) => scene.here("restore", "nobody", "a"),
  },
  find: { good: (scene) => scene.onServersData("find", "a.md"), bad: withUrl("find", "a") },
  gc: { good: (scene) => scene.onServersData("gc", "--dry-run"), bad: withUrl("gc") },
  prune: {
    good: (scene) => scene.at("prune", "--days", "1", "--dry-run"),
    bad: (scene) => scene.at("prune", "--days", "some"),
  },
  validate: {
    good: (scene) => scene.here("validate", scene.write("message.json", MESSAGE)),
    bad: missing("validate"),
  },
  translate: {
    good: (scene) => scene.here("translate", scene.write("message.json", MESSAGE), "--to", "messages"),
    bad: missing("translate", "--to", "messages"),
  },
  "mailbox init": {
    good: (scene) => scene.here("mailbox", "init", scene.folder),
    bad: missing("mailbox", "init", "--layout", "no-such"),
  },
  "mailbox send": {
    good: (scene) =>
      scene.here(
        "mailbox",
        "send",
        "developer",
        "--dir",
        scene.folder,
        "--file",
        scene.write("task.json", assignment("task-001")),
      ),
    bad: missing("mailbox", "send", "developer", "--file"),
  },
  "mailbox read": {
    good: (scene) => scene.here("mailbox", "read", "developer", "--dir", scene.folder),
    bad: missing("mailbox", "read", "developer", "--dir"),
  },
  "mailbox clear": {
    good: (scene) => scene.here("mailbox", "clear", "developer", "--dir", scene.folder),
    bad: missing("mailbox", "clear", "developer", "--dir"),
  },
  "mailbox watch": { good: null, bad: missing("mailbox", "watch", "developer", "--dir") },
  "notify test": {
    good: (scene) => {
      const data = join(scene.folder, "notified");
      mkdirSync(data);
      const notifications = { command: `${process.execPath} -e 0`, bell: false };
      writeFileSync(join(data, "tutti.config.json"), JSON.stringify({ notifications }));
      return ["--data-dir", data, "notify", "test"];
    },
    bad: (scene) => scene.here("notify", "test"),
  },
  worker: {
    good: null,
    bad: (scene) => scene.here("worker", "--database-url", "mysql://localhost/x"),
  },
  "hosts list": { good: (scene) => scene.at("hosts", "list"), bad: noSuchFlag("hosts", "list") },
  // It needs a database; see `fleet/hosts.test.ts`.
  "hosts add": {
    good: null,
    bad: (scene) => scene.here("hosts", "add", "Not A Name", "--database-url", "postgres://localhost/x"),
  },
  "hosts drain": {
    good: (scene) => scene.at("hosts", "drain", "host_1"),
    bad: (scene) => scene.at("hosts", "drain", "nobody"),
  },
  "hosts undrain": {
    good: (scene) => scene.at("hosts", "undrain", "host_1"),
    bad: (scene) => scene.at("hosts", "undrain", "nobody"),
  },
  "hosts remove": {
    good: (scene) => scene.at("hosts", "remove", "host_1"),
    bad: (scene) => scene.at("hosts", "remove", "nobody"),
  },
  "tokens create": {
    good: (scene) => scene.at("tokens", "create", "phone", "--role", "view"),
    bad: (scene) => scene.at("tokens", "create", "Not A Name", "--role", "view"),
  },
  "tokens list": { good: (scene) => scene.at("tokens", "list"), bad: noSuchFlag("tokens", "list") },
  "tokens revoke": {
    good: (scene) => scene.at("tokens", "revoke", scene.runs.storeToken("lost")),
    bad: (scene) => scene.at("tokens", "revoke", "nobody"),
  },
  completion: { good: () => ["completion", "bash"], bad: () => ["completion", "tcsh"] },
};
