// `runTools` has one tool per route, with the same names of parameters. With `wait`, some tools follow the run.
import { z } from "zod";
import { followRun } from "./follow-run.ts";
import type { LinkedRuns, RunsLink } from "./runs-link.ts";
import { readRequest } from "../run/run.ts";
import type { Output } from "../terminal/output.ts";
import { defineTool, type McpTool, type CallContext } from "../../mcp/mcp-tool.ts";
import { ORDERS, type OrderName } from "../../schema/api/orders.ts";
import { RESULT_ROUTES } from "../../schema/api/result-routes.ts";
import { RUN_ROUTES } from "../../schema/api/run-routes.ts";
import { RunStatus } from "../../schema/api/run-values.ts";
import { TuttiError } from "../../schema/error.ts";
import { PersonAnswer } from "../../schema/inbox.ts";
import { ChangedPlan, EditedPlan } from "../../schema/plan-changes.ts";
import { isRunOver } from "../../schema/status.ts";

export const INSTRUCTIONS =
  "Tutti lets several coding agents carry out one request in parallel and merges their work into one git branch. " +
  "Create a run with create_run, show the user its plan (get_run, list_inbox), confirm it with confirm_plan only if the " +
  "user agrees, answer questions from list_inbox, and read get_result and get_diff at the end. Nothing reaches the user's " +
  "branch by itself.";

const id = z.string().min(1).describe("Id of the run.");
const wait = z
  .boolean()
  .default(false)
  .describe("Wait until the run has ended or needs the user, and report its events as progress.");
const ofRun = z.strictObject({ id });
const page = {
  limit: z.number().int().min(1).max(10_000).optional(),
  after: z.string().min(1).optional().describe("Return items after the one with this id."),
};

const CreatedRun = RUN_ROUTES["POST /api/orchestrator"].body
  // Without `trust` and `sandbox`, an agent cannot agree to programs or leave the sandbox in the place of the user.
  .omit({ trust: true, sandbox: true, config: true })
  .extend({
    templateId: z.string().min(1).optional().describe("Default: as for `tutti run`."),
    cwd: RUN_ROUTES["POST /api/orchestrator"].body.shape.cwd
      .optional()
      .describe("Absolute path of the repository. Default: the folder of the MCP server."),
    autoStart: z.boolean().default(true),
    config: z.record(z.string(), z.unknown()).default({}).describe("Settings that override the template's."),
    wait,
  });

/** The route takes "1", but models rather write true, so `stat` accepts both. */
const stat = z
  .union([z.boolean(), z.literal(["0", "1", 0, 1])])
  .default(false)
  .describe("True leaves out the patches.");
const { task, path } = RESULT_ROUTES["GET /api/orchestrator/:id/diff"].query.shape;

interface RunToolOptions {
  output: Output;
  link: RunsLink;
  /** The token of the caller. Null gives the rights of the user who started the command. */
  token: string | null;
}

export function runTools({ output, link, token }: RunToolOptions): Record<string, McpTool> {
  const use = <T>(work: (linked: LinkedRuns) => Promise<T>): Promise<T> => link.use(token, work);

  /** After an order `hold` keeps the run active, even if it rested until now. */
  const order = (runId: string, name: OrderName, input?: unknown): Promise<unknown> =>
    use(async ({ client, hold }) => {
      const done = await client.order(runId, name, input as never);
      await hold(runId);
      return done;
    });

  const plain = (name: OrderName): McpTool =>
    defineTool({ description: ORDERS[name].summary, input: ofRun, call: ({ id: runId }) => order(runId, name) });

  const readAfterWait =
    (read: (client: LinkedRuns["client"], runId: string) => Promise<unknown>) =>
    ({ id: runId, wait: waits }: { id: string; wait: boolean }, call: CallContext): Promise<unknown> =>
      use(async (linked) => {
        if (waits) await followRun(linked, runId, call);
        return read(linked.client, runId);
      });

  const create = (request: z.output<typeof CreatedRun>, call: CallContext): Promise<unknown> =>
    use(async (linked) => {
      const { client, runs, hold } = linked;
      const { templateId: template, cwd, agent, roles = {}, message, wait: waits } = request;
      const { customVariables, config, budget, scope, autoStart } = request;
      const earlier = request.after === undefined ? null : await runs.run(request.after);
      const role = Object.entries(roles).map((pair) => pair.join("="));
      const flags = { template, cwd, agent, role, var: [], agentEnv: [] };
      const asked = readRequest(output, message, definedMembers(flags), earlier);
      const given = { customVariables, config, budget, scope, autoStart };
      const created = await client.create({ ...asked, ...given });
      const runId = created.orchestratorId;
      if (autoStart) await hold(runId);
      if (waits) await followRun(linked, runId, call);
      const { status } = waits ? await client.get(runId) : created;
      return { ...created, id: runId, status };
    });

  return {
    create_run: defineTool({
      description: "Creates a run and starts it, unless `autoStart` is false. Its plan then waits for confirm_plan.",
      input: CreatedRun,
      call: create,
    }),
    list_runs: defineTool({
      description: "Lists the runs, oldest first.",
      input: z.strictObject({ status: RunStatus.optional(), ...page }),
      readOnly: true,
      call: (query) => use(({ client }) => client.call("GET /api/orchestrator", { query: definedMembers(query) })),
    }),
    get_run: defineTool({
      description: "Returns the state of a run: status, plan, workers and open inbox items.",
      input: ofRun.extend({ wait }),
      readOnly: true,
      call: readAfterWait((client, runId) => client.get(runId)),
    }),
    confirm_plan: defineTool({
      description: "Confirms the plan of a run, with changes. Call it only if the user agrees to the plan.",
      input: ChangedPlan.extend({ id, wait }),
      call: async ({ id: runId, wait: waits, ...changes }, call) => {
        const confirmed = await order(runId, "confirm", changes);
        if (waits) await use((linked) => followRun(linked, runId, call));
        return confirmed;
      },
    }),
    edit_plan: defineTool({
      description:
        "Changes the plan of a run without confirming it: by `modifications`, `added` and `removed` tasks, or by `text`, which the main session turns into a new plan.",
      input: EditedPlan.extend({ id, text: z.string().min(1).optional() }),
      call: async ({ id: runId, text, ...changes }) => {
        const { modifications, added, removed } = changes;
        const isChanged = Object.keys(modifications).length + added.length + removed.length > 0;
        if (isChanged === (text !== undefined)) {
          const advice = "Give either text or at least one of modifications, added and removed.";
          throw new TuttiError("invalid_input", `The call of edit_plan has no single change. ${advice}`);
        }
        return text === undefined ? order(runId, "edit", changes) : order(runId, "requestChanges", { text });
      },
    }),
    send_message: defineTool({
      description: ORDERS.message.summary,
      input: ORDERS.message.body.extend({ id }),
      call: ({ id: runId, ...message }) => order(runId, "message", message),
    }),
    list_inbox: defineTool({
      description: "Lists everything that waits for the user, oldest first: plans, questions, permissions, decisions.",
      input: z.strictObject(page),
      readOnly: true,
      call: (query) => use(({ client }) => client.call("GET /api/inbox", { query: definedMembers(query) })),
    }),
    answer: defineTool({
      description:
        "Answers an inbox item in the name of the user, with `text`, `option`, `approve` or `data`, depending on its kind.",
      input: z.strictObject({
        itemId: z.string().min(1),
        text: z.string().min(1).optional(),
        option: z.number().int().min(0).optional().describe("Position in the item's options, from 0."),
        approve: z.boolean().optional(),
        data: z.record(z.string(), z.unknown()).optional(),
        hash: z.string().optional().describe("The item's hash. Another version of the item is then not answered."),
      }),
      call: ({ itemId, ...answer }) =>
        use(async ({ client, runs, hold }) => {
          const parsed = PersonAnswer.safeParse(answer);
          if (!parsed.success) {
            const advice = "Give text, option, approve or data, and only one of them; text may go with approve.";
            throw new TuttiError("invalid_input", `The answer to ${itemId} is invalid. ${advice}`);
          }
          const item = (await runs.inbox()).find((each) => each.id === itemId);
          const done = await client.answer(itemId, parsed.data);
          if (item) await hold(item.run);
          return done;
        }),
    }),
    pause_run: plain("pause"),
    resume_run: defineTool({
      description: "Resumes a run that is paused, or that was interrupted because no process worked on it.",
      input: ofRun,
      call: ({ id: runId }) => resume(runId),
    }),
    cancel_run: plain("cancel"),
    retry_task: defineTool({
      description: ORDERS.retry.summary,
      input: ORDERS.retry.body.extend({ id }),
      call: ({ id: runId, taskId }) => order(runId, "retry", { taskId }),
    }),
    get_result: defineTool({
      description:
        "Returns the outcome of a run: verdict, census, causes and branch. The outcome is null until the end.",
      input: ofRun.extend({ wait }),
      readOnly: true,
      call: readAfterWait((client, runId) => client.result(runId)),
    }),
    get_diff: defineTool({
      description: "Returns what a run or one of its tasks changed: the files and their patches.",
      input: ofRun.extend({ task, path, stat }),
      readOnly: true,
      call: ({ id: runId, stat: isShort, ...query }) =>
        use(({ client }) => client.diff(runId, { ...definedMembers(query), stat: Number(isShort) === 1 ? "1" : "0" })),
    }),
  };

  /** A run that is not paused may only rest, because its process ended; then `hold` continues it. */
  async function resume(runId: string): Promise<unknown> {
    return use(async ({ client, hold }) => {
      const { status } = await client.get(runId);
      const rests = status !== "paused" && status !== "created" && !isRunOver(status);
      const done = rests ? { success: true } : await client.order(runId, "resume");
      await hold(runId);
      return done;
    });
  }
}

/** Optional members must not be undefined, so `definedMembers` leaves such members out. */
function definedMembers<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}
