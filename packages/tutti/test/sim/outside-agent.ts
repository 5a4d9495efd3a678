// An agent outside of Tutti: it only reads and writes the files of a mailbox and of the workspace that its mail names.
// It outlives engines, and its answers may come while none runs.
import { WORLD } from "./loop.ts";
import type { Machine, Process } from "./machine.ts";
import { mailboxReport } from "./team-words.ts";
import type { Run } from "../../src/schema/run.ts";
import { OUTSIDE } from "../../src/schema/team/roles.ts";
import type { Worker } from "../../src/schema/worker.ts";

/** The agent does not know turns, so its claims are by time. */
class LatestClaims extends Map<number, string> {
  override get(): string | undefined {
    return [...this.values()].at(-1);
  }
}

/** Called once for each message in the box of its role. */
export function reactOutside(machine: Machine, run: Run, worker: Worker, body: Record<string, unknown>): void {
  if (worker.session.agent !== OUTSIDE) return;
  const { stage } = machine;
  const process = processOf(machine, run, worker);
  const random = stage.random.fork(`outside ${worker.sessionId} ${process.story.length}`);
  process.story.push({ type: "ready" });
  const behaviour = stage.calm ? "well" : random.weighted({ well: 12, failed: 2, garbage: 1, silent: 1 });
  stage.count(`outside: ${behaviour}`);
  if (behaviour === "silent") return;
  stage.loop.at(random.pick([100, 1000, 4000]), WORLD, `outside ${worker.taskId}`, () => {
    const box = machine.boxOf(run.id, "team-lead");
    if (behaviour === "garbage") box.messages.push({ type: "completion_report", taskId: worker.taskId, platform: 7 });
    const folder = machine.repository.folders.get(String(body["workspace"]));
    if (folder) {
      const content = `${worker.sessionId} ${process.story.length}`;
      folder.files["docs/a.md"] = content;
      process.wrote.set("docs/a.md", content);
    }
    const isGood = behaviour !== "failed";
    process.claims.set(stage.loop.now, isGood ? "success" : "failed");
    box.messages.push(mailboxReport(machine, process, `${process.story.length}`, isGood ? "success" : "failed"));
  });
}

/** The checks compare the log with the record of the agent. No session of the machine belongs to it. */
function processOf(machine: Machine, { id: runId }: Run, { sessionId, taskId }: Worker): Process {
  const known = machine.processes.get(sessionId);
  if (known) return known;
  const process = machine.begin({ runId, sessionId, taskId, agent: OUTSIDE, cwd: "" } as never);
  process.state = "over";
  process.claims = new LatestClaims();
  process.tools = 1;
  return process;
}
