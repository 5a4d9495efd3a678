// A temporary project with a mailbox, sample messages, and writers in real processes.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MailboxLayout } from "../../src/mailbox/layout.ts";
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { realWorld } from "../../src/world.ts";

const WRITER = fileURLToPath(new URL("./writer-process.ts", import.meta.url));

export class MailboxLab {
  readonly project = mkdtempSync(join(tmpdir(), "tutti-mailbox-"));
  readonly #children: ChildProcess[] = [];

  mailbox(layout?: MailboxLayout): Mailbox {
    return new Mailbox({ project: this.project, world: realWorld, ...(layout === undefined ? {} : { layout }) });
  }

  path(...parts: string[]): string {
    return join(this.project, ".claude-orchestrator", ...parts);
  }

  /** Writes a mailbox file like another program: in place and without a lock. */
  write(name: string, content: string | Uint8Array): string {
    const file = this.path(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  text(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  json(name: string): Record<string, unknown> {
    return JSON.parse(this.text(name)) as Record<string, unknown>;
  }

  /**
   * Starts a process that sends `count` messages, `burst` at a time, and prints the id of each acknowledged message.
   */
  startWriter(name: string, count: number, burst: number): ChildProcess & { acknowledged: string[] } {
    const args = [WRITER, this.project, name, String(count), String(burst)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    const acknowledged: string[] = [];
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      acknowledged.push(...lines);
    });
    return Object.assign(child, { acknowledged });
  }

  tearDown(): void {
    for (const child of this.#children) if (child.exitCode === null) child.kill("SIGKILL");
    rmSync(this.project, { recursive: true, force: true });
  }
}

export async function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("close", (code) => resolve(code)));
}

export const assignment = (taskId: string, more: object = {}): Record<string, unknown> => ({
  type: "task_assignment",
  taskId,
  platform: "web",
  title: "Add a search field",
  instructions: "Add a search field to the list of books.",
  filesToCreate: ["src/search.ts"],
  architecture: "One function, one component",
  timestamp: "2026-03-01T10:00:00.000Z",
  ...more,
});

export const report = (taskId: string, more: object = {}): Record<string, unknown> => ({
  type: "completion_report",
  taskId,
  platform: "web",
  status: "awaiting_review",
  summary: "The search field is there.",
  filesCreated: ["src/search.ts"],
  filesModified: [],
  buildResult: { status: "success", command: "npm run build", errors: 0 },
  timestamp: "2026-03-01T11:00:00.000Z",
  ...more,
});
