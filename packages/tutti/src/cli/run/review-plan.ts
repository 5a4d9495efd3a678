// `reviewPlan` lets the user confirm a plan, change it, send it back or leave it waiting.
import { settleSkips, withSkips } from "./confirm.ts";
import { editPlan } from "./edit-plan.ts";
import type { LiveRun, RunAccess } from "../access/runs.ts";
import { describePlan, describePlanFacts, describeTask } from "../terminal/describe.ts";
import type { UserDialogue } from "../terminal/dialogue.ts";
import type { Output } from "../terminal/output.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { plural } from "../../run/describe-event.ts";
import { changedPlan } from "../../run/plan/confirm.ts";
import { TuttiError, type ErrorCode } from "../../schema/error.ts";
import { ChangedPlan } from "../../schema/plan-changes.ts";
import type { Run } from "../../schema/run.ts";

const KEYS = [
  ["y", "yes", "carry out the plan"],
  ["s", "skip", "skip tasks"],
  ["e", "edit", "change the plan in your editor ($VISUAL, $EDITOR or vi)"],
  ["r", "send back", "let the main session plan again, with your words"],
  ["d", "details", "show the tasks in full"],
  ["q", "later", "leave the plan waiting and exit with 4"],
  ["?", "help", "show this list"],
] as const;
const HINT = KEYS.map(([key, word]) => `${key} ${word}`).join("  ");
const LETTERS = KEYS.map(([key]) => key);
const QUESTION = `Carry out this plan? [${LETTERS.join("/")}] `;

/** The engine refuses a plan with a `CORRECTABLE` error, and the user can change it. */
const CORRECTABLE: ReadonlySet<ErrorCode> = new Set([
  "invalid_plan",
  "agent_unknown",
  "agent_not_startable",
  "invalid_scenario",
  "forbidden",
  "wrong_state",
]);

interface ReviewOptions {
  runs: RunAccess;
  live: LiveRun;
  output: Output;
  dialogue: UserDialogue;
  signal: AbortSignal;
}

/** Returns false if the user leaves the plan waiting, and true once it is `settled` here or elsewhere. */
export async function reviewPlan({ runs, live, output, dialogue, signal }: ReviewOptions, run: Run): Promise<boolean> {
  const settled = live.until(({ status }) => status !== "confirming");
  // `askKey` rejects with `settled`; between two questions a rejection must not end the process as unhandled.
  settled.catch(() => {});
  const item = Object.values(run.inbox).find(({ kind }) => kind === "plan");
  let changes = ChangedPlan.parse({ hash: item?.hash });
  const showPlan = () => {
    const planned = withChanges(run, changes);
    output.result(`plan of ${plural(planned.tasks.length, "task")}:`);
    for (const line of [...describePlan(planned), ...describePlanFacts(planned, item)]) output.result(line);
    output.result(HINT);
  };
  showPlan();
  for (;;) {
    const key = await dialogue.askKey(QUESTION, `${LETTERS.join("")}n`, settled).catch(leaveAtEndOfInput);
    try {
      if (key === null) {
        if (live.run.status !== "confirming") return true;
      } else if (key === "y") {
        await runs.order(run.id, "confirm", changes);
        return true;
      } else if (key === "s") {
        changes = await askSkips(run, changes);
        showPlan();
      } else if (key === "e") {
        const edited = await dialogue.suspend(() => editPlan(output, run, changes, signal));
        if (edited === null && !signal.aborted) output.result("The plan is not changed.");
        changes = edited ?? changes;
        if (edited) showPlan();
      } else if (key === "r") {
        const text = await dialogue.askLine("Words for the main session: ", settled);
        if (text === null || text.trim() === "") continue;
        await runs.order(run.id, "requestChanges", { text });
        return true;
      } else if (key === "d") {
        for (const task of withChanges(run, changes).tasks)
          for (const line of describeTask(run, task)) output.result(line);
      } else if (key === "?") {
        for (const [letter, , effect] of KEYS) output.result(`  ${letter}  ${effect}`);
      } else {
        return false;
      }
    } catch (thrown) {
      const error = toTuttiError(thrown);
      if (!CORRECTABLE.has(error.code)) throw error;
      output.error(error);
    }
  }

  async function askSkips(planned: Run, sofar: ChangedPlan): Promise<ChangedPlan> {
    const text = (await dialogue.askLine("Tasks to skip: ", settled)) ?? "";
    const ids = text.split(/[\s,]+/).filter((id) => id !== "");
    const known = new Set([...planned.tasks, ...sofar.added].map(({ id }) => id));
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0)
      throw new TuttiError("invalid_plan", `The plan has no task ${unknown.join(", ")}. Name tasks of the list above.`);
    return settleSkips(output, planned, withSkips(sofar, ids), async (question) => {
      const key = await dialogue.askKey(question, "yn", settled);
      return key === "y";
    });
  }
}

function withChanges(run: Run, { modifications, added, removed, budget }: ChangedPlan): Run {
  return {
    ...run,
    ...changedPlan(run, { tasks: modifications, added, removed }),
    budget: { ...run.budget, ...budget },
  };
}

function leaveAtEndOfInput(error: unknown): string {
  if (error instanceof TuttiError && error.code === "needs_confirmation") return "q";
  throw error;
}
