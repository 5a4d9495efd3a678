// Sessions under real keepers, without an engine.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killListed, processesOf } from "../lab/lab.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import { createKeeperHost, type KeeperHostOptions } from "../../src/session/keeper/keeper-host.ts";
import { identify } from "../../src/session/process.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";
import { realWorld } from "../../src/world.ts";

let counter = 0;

export class SessionLab {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-session-"));
  readonly cwd = join(this.folder, "workspace");
  readonly engineFile = join(this.folder, "engine.json");
  readonly host: SessionHost;

  constructor(options: Partial<KeeperHostOptions> = {}) {
    mkdirSync(this.cwd);
    writeFileSync(this.engineFile, JSON.stringify(identify(process.pid)));
    this.host = this.newHost(options);
  }

  /** Another host on the same folder, as after a restart. */
  newHost(options: Partial<KeeperHostOptions> = {}): SessionHost {
    return createKeeperHost({
      folder: join(this.folder, "sessions"),
      engineFile: this.engineFile,
      world: realWorld,
      graceMs: 500,
      ...options,
    });
  }

  spec(agent: string, more: Partial<SessionSpec> = {}): SessionSpec {
    const sessionId = `session_${process.pid}_${++counter}`;
    return {
      sessionId,
      runId: `run_${process.pid}_${counter}`,
      role: "worker",
      taskId: "task_001",
      attempt: 1,
      agent,
      cwd: this.cwd,
      permissions: DEFAULT_PERMISSIONS,
      ...more,
    };
  }

  /** Writes a small program and returns its agent name. */
  program(kind: "command" | "text", lines: string): string {
    const file = join(this.folder, `agent-${++counter}.mjs`);
    writeFileSync(file, lines);
    return `${kind}:${process.execPath} ${file}`;
  }

  /**
   * Code for a program that defines `keeperRounds(count)`. It resolves when the keeper has masked a secret `count` times,
   * about once a second. So an agent can outlive what the keeper should do by a number of its rounds at any load.
   */
  keeperRounds(): string {
    return `
      const keeperRounds = async (count) => {
        const { closeSync, fstatSync, openSync, readSync, writeSync } = process.getBuiltinModule("node:fs");
        const { TUTTI_RUN_ID, TUTTI_SESSION_KEY } = process.env;
        const folder = ${JSON.stringify(join(this.folder, "sessions"))};
        const fd = openSync(folder + "/" + TUTTI_RUN_ID + "/" + TUTTI_SESSION_KEY + "/output.log", "r");
        const tail = Buffer.alloc(60);
        for (let i = 0; i < count; i++) {
          const secret = "ghp_" + "k3".repeat(18);
          writeSync(1, secret + "\\n");
          do {
            await new Promise((resolve) => setTimeout(resolve, 20));
            readSync(fd, tail, 0, 60, Math.max(0, fstatSync(fd).size - 60));
          } while (tail.includes(secret));
        }
        closeSync(fd);
      };`;
  }

  scenario(sessions: object[]): string {
    const file = join(this.folder, `scenario-${++counter}.json`);
    writeFileSync(file, JSON.stringify({ sessions }));
    return `script:${file}`;
  }

  processes(): string[] {
    return processesOf(this.folder);
  }

  tearDown(): void {
    killListed(this.processes());
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

export const turn = (number: number, text = "do it", more: Partial<Turn> = {}): Turn => ({
  number,
  phase: "workerExecution",
  text,
  variables: {},
  ...more,
});

/** Reads until a matching signal, and returns all signals up to it. */
export async function listen(
  session: Session,
  until: (signal: SessionSignal) => boolean,
  onSignal: (signal: SessionSignal) => unknown = () => {},
): Promise<SessionSignal[]> {
  const signals: SessionSignal[] = [];
  for await (const signal of session.signals()) {
    signals.push(signal);
    await onSignal(signal);
    if (until(signal)) break;
  }
  return signals;
}

/** Delivers one turn, and returns all signals until the turn is over or the session is gone. */
export async function oneTurn(session: Session, given: Turn = turn(1)): Promise<SessionSignal[]> {
  return listen(
    session,
    ({ type }) => type === "turnOver" || type === "gone" || type === "unstartable",
    async ({ type }) => {
      if (type === "ready") await session.deliver(given);
    },
  );
}

export const texts = (signals: SessionSignal[]): string =>
  signals.map((signal) => (signal.type === "text" ? signal.text : "")).join("");
