// Scenarios for whole runs, in the shape of `script:` files.

export interface ScriptedTask {
  id: string;
  dependencies?: string[];
  priority?: number;
  scope?: string[];
  agent?: string;
  model?: string;
  labels?: Record<string, string>;
}

export const done = (data: object) => ({
  phase: "completion",
  data: { task_id: "{TASK_ID}", status: "success", ...data },
});

/** A main session that plans these tasks and accepts every result. */
export function mainSession(tasks: ScriptedTask[], aggregation: object = { status: "success", summary: "all in one" }) {
  const full = tasks.map((task) => ({
    title: `Title of ${task.id}`,
    description: `Do ${task.id}`,
    scope: [],
    dependencies: [],
    ...task,
  }));
  return [
    {
      match: { role: "main", phase: "analysis" },
      turns: [
        {
          say: "I looked around.",
          block: { phase: "analysis", data: { summary: "a small project", recommended_splits: tasks.length } },
        },
      ],
    },
    { match: { role: "main", phase: "task_list" }, turns: [{ block: { phase: "task_list", data: { tasks: full } } }] },
    { match: { role: "main", phase: "aggregation" }, turns: [{ block: { phase: "aggregation", data: aggregation } }] },
    {
      match: { role: "main", phase: "verification" },
      turns: [{ block: { phase: "verification", data: { status: "passed", summary: "all is well" } } }],
    },
  ];
}

export const goodWorker = {
  match: { role: "worker" },
  turns: [
    {
      tools: ["Read", "Write"],
      write: { "docs/{TASK_ID}.md": "# {TASK_TITLE}\n" },
      block: done({ summary: "wrote {TASK_ID}" }),
      usage: { inputTokens: 100, outputTokens: 20, usd: 0.01 },
    },
  ],
};

export const worker = (task: string, ...turns: object[]) => ({ match: { role: "worker", task }, turns });
