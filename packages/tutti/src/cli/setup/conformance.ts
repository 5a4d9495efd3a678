import type { SuiteReport } from "../../main/conformance.ts";
import { plural } from "../../run/describe-event.ts";
import { SUITE_NAMES, type SuiteName } from "../../main/conformance-suites.ts";
import { TuttiError } from "../../schema/error.ts";
import { readNumber } from "../input/read-number.ts";
import type { Output } from "../terminal/output.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";

interface ConformanceFlags {
  agent: string;
  suite: string[];
  timeout: string;
}

const DAY_S = 86_400;

/** Returns 0 if the agent passed at least one of the `suites` and failed none. */
export async function conformance(output: Output, flags: ConformanceFlags): Promise<number> {
  const { agent } = flags;
  const suites = flags.suite.length > 0 ? flags.suite.map(readSuite) : SUITE_NAMES;
  const timeoutMs = readNumber("--timeout", flags.timeout, 1, DAY_S) * 1000;
  const { tryAgent } = await import("../../main/conformance.ts");
  return untilInterrupted(async (signal) => {
    const reports: SuiteReport[] = [];
    for (const suite of suites) {
      output.line(`${suite} …`);
      const options = { agent, timeoutMs, userDataDir: output.dataDir, host: output.options, signal };
      const report = await tryAgent(suite, options);
      reports.push(report);
      showReport(output, report);
    }
    const passed =
      reports.every(({ result }) => result !== "failed") && reports.some(({ result }) => result === "passed");
    output.value({ agent, passed, suites: reports });
    output.result(passed ? `${agent} conforms.` : `${agent} does not conform. The causes are above.`);
    return passed ? 0 : 1;
  });
}

function readSuite(name: string): SuiteName {
  const found = SUITE_NAMES.find((suite) => suite === name);
  if (found) return found;
  throw new TuttiError("usage", `"${name}" is not a suite. Give --suite one of: ${SUITE_NAMES.join(", ")}.`);
}

function showReport(output: Output, { suite, result, causes, turns, durationMs }: SuiteReport): void {
  const time = `${Math.round(durationMs / 1000)} s`;
  const rejected = turns.filter(({ problems }) => problems.length > 0);
  output.result(`${suite}: ${result}, ${plural(turns.length, "answer")}, ${rejected.length} rejected, ${time}`);
  for (const { phase, taskId, try: attempt, problems } of rejected)
    output.result(`  ${phase}${taskId === null ? "" : ` of ${taskId}`}, try ${attempt}: ${problems.join("; ")}`);
  for (const cause of causes) output.result(`  ${cause}`);
}
