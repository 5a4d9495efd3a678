// A realistic run for screenshots: eight tasks with dependencies.
import { done, mainSession, worker } from "../lab/scenarios.ts";

export const REQUEST = "Document the billing service: every module, how the parts work together, and how to run it";

const TASKS = [
  { id: "http-api", title: "HTTP API: routes, errors and paging", dependencies: [] },
  { id: "invoices", title: "Invoices: lifecycle and rounding rules", dependencies: [] },
  { id: "payments", title: "Payments: providers, retries and refunds", dependencies: [] },
  { id: "storage", title: "Storage: tables, migrations and backups", dependencies: [] },
  { id: "webhooks", title: "Webhooks: signing and delivery", dependencies: ["http-api", "payments"] },
  { id: "operations", title: "Running it: configuration, metrics, alerts", dependencies: ["storage"] },
  { id: "examples", title: "Worked examples with real requests", dependencies: ["http-api", "invoices", "webhooks"] },
  { id: "overview", title: "Overview that ties the pages together", dependencies: ["examples", "operations"] },
].map((task) => ({
  ...task,
  description: `Read the code of this part and write docs/${task.id}.md: what it does, its public names, an example.`,
  scope: [`src/${task.id}`],
}));

const usage = { inputTokens: 18_400, outputTokens: 2150, usd: 0.087 };

const finish = (id: string, words: string) => ({
  delayMs: 300,
  tools: ["Read", "Read", "Grep", "Read", "Write"],
  say: words,
  write: { [`docs/${id}.md`]: `# ${id}\n` },
  block: done({ summary: words }),
  usage,
});

/** Reports its progress, then hangs. */
const halfway = (percent: number, action: string, words: string, tools: string[]) => ({
  tools,
  say: [
    words,
    "<<<ORCHESTRATOR_RESPONSE>>>",
    JSON.stringify({
      phase: "progress",
      data: { task_id: "{TASK_ID}", status: "in_progress", progress_percent: percent, current_action: action },
    }),
    "<<<END_ORCHESTRATOR_RESPONSE>>>",
  ].join("\n"),
  usage,
  then: "hang",
});

const main = mainSession(TASKS, {
  status: "success",
  summary: "Eight pages under docs/, linked from docs/overview.md; names and examples were checked against the code.",
});

/** Three tasks completed, three running, two waiting. */
export const HALFWAY = [
  ...main,
  worker("http-api", finish("http-api", "Documented 14 routes with their errors; paging has its own section.")),
  worker("storage", finish("storage", "Nine tables, each with its migrations and who writes to it.")),
  worker("payments", finish("payments", "Three providers; the retry rules are in a table.")),
  worker(
    "invoices",
    halfway(
      80,
      "Checking the rounding examples against the tests",
      "The rounding rule for partial refunds is only in the tests, so I quote the test instead of guessing.",
      ["Read", "Read", "Grep", "Read", "Read", "Bash", "Edit", "Read", "Edit"],
    ),
  ),
  worker(
    "webhooks",
    halfway(
      35,
      "Reading src/webhooks/deliver.ts",
      "Deliveries are signed with a key per customer. I am looking for where the key is rotated.",
      ["Read", "Grep", "Read"],
    ),
  ),
  worker(
    "operations",
    halfway(60, "Writing docs/operations.md", "Every setting with its default is there; the alerts are next.", [
      "Read",
      "Read",
      "Bash",
      "Write",
    ]),
  ),
];

export const FINISHED = [
  ...main,
  { match: { role: "worker" }, turns: [finish("{TASK_ID}", "Wrote the page and checked its names against the code.")] },
];

/** One task fails and blocks its dependents, and two tasks write the same file. */
export const DEGRADED = [
  ...main,
  worker("payments", {
    tools: ["Read"],
    block: {
      phase: "completion",
      data: { task_id: "{TASK_ID}", status: "failed", error: "the sandbox keys of the provider are missing" },
    },
  }),
  worker("invoices", {
    ...finish("shared", "Wrote the shared page."),
    write: { "docs/shared.md": "# From invoices\n" },
  }),
  worker("storage", { ...finish("shared", "Wrote the shared page."), write: { "docs/shared.md": "# From storage\n" } }),
  { match: { role: "worker" }, turns: [finish("{TASK_ID}", "Wrote the page.")] },
];
