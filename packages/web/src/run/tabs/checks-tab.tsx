import { translate } from "../../text/language.ts";
import { ClaimAndEvidence } from "../../inspector/claim-and-evidence.tsx";
import { Verification } from "../result/verification.tsx";
import { TaskHead } from "./task-head.tsx";
import { Badge } from "../../parts/badge.tsx";
import { AgentText } from "../../text/agent-text.tsx";
import { duration, plural } from "../../text/format.ts";
import { LongText } from "../../text/long-text.tsx";
import type { Run } from "../../../../tutti/src/schema/run.ts";

export function ChecksTab({ run, onOpen }: { run: Run; onOpen: (session: string) => void }) {
  const commands = run.checks?.commands ?? [];
  const reported = run.tasks.filter(({ id }) => run.workers[id]);
  return (
    <>
      <section className="card run-tab" aria-labelledby="checks-tab-title">
        <h2 id="checks-tab-title">
          {translate("Checks of the result")}{" "}
          {commands.length > 0 && <span className="muted">{plural(commands.length, "command")}</span>}
        </h2>
        {commands.map(({ name, run: line, exitCode, durationMs, output }, index) => (
          <details key={`${index} ${name}`} className="check-command" open={exitCode !== 0}>
            <summary>
              <Badge tone={exitCode === 0 ? "good" : "bad"} icon={exitCode === 0 ? "check" : "cross"}>
                {exitCode === 0 ? translate("Passed") : translate("Exit code {exitCode}", { exitCode })}
              </Badge>
              <strong>
                <AgentText text={name} max={80} />
              </strong>
              <code className="clip">
                <AgentText text={line} max={200} />
              </code>
              <span className="push muted">{duration(durationMs)}</span>
            </summary>
            <LongText text={output === "" ? translate("The command printed nothing.") : output} max={8000} mono />
          </details>
        ))}
        {run.checks?.isRunning && <p className="loading">{translate("Running the checks …")}</p>}
        {commands.length === 0 && !run.checks?.isRunning && (
          <p className="muted">
            {run.template.phases.verification.commands === undefined
              ? translate('The template names no commands. Add them under "phases.verification.commands".')
              : translate("The commands have not run yet.")}
          </p>
        )}
        <Verification answer={run.verification} />
      </section>
      <section className="card run-tab" aria-labelledby="claims-title">
        <h2 id="claims-title">{translate("Claims and evidence")}</h2>
        {reported.length === 0 && <p className="nothing-yet">{translate("No worker has started yet.")}</p>}
        <ol className="tab-rows">
          {reported.map((task) => (
            <li key={task.id}>
              <TaskHead run={run} task={task} onOpen={onOpen} />
              <ClaimAndEvidence worker={run.workers[task.id]!} />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}
