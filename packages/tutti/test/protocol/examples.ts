// The examples of document 000, member by member.

/** Document 000, line 75. */
export const analysis = {
  phase: "analysis",
  data: {
    summary: "The project is a Node.js backend with Express API and WebSocket support",
    key_files: ["backend/server.js", "backend/cdp-controller.js", "public/app.js"],
    estimated_complexity: "high",
    recommended_splits: 6,
    components: [
      { name: "REST API", files: ["server.js:2400-2520"], complexity: "medium" },
      { name: "WebSocket", files: ["server.js:2522-2600"], complexity: "low" },
      { name: "CDP Controller", files: ["cdp-controller.js"], complexity: "high" },
    ],
    notes: "Heavy use of async/await, consider documenting error handling patterns",
  },
};

/** Document 000, line 124. */
export const taskList = {
  phase: "task_list",
  data: {
    total_tasks: 4,
    tasks: [
      {
        id: "task_001",
        title: "REST API Documentation",
        description: "Document all REST endpoints in server.js including request/response formats",
        scope: ["backend/server.js:2400-2520"],
        priority: 1,
        dependencies: [],
      },
      {
        id: "task_002",
        title: "WebSocket Documentation",
        description: "Document WebSocket events and message formats",
        scope: ["backend/server.js:2522-2600", "public/app.js:websocket"],
        priority: 2,
        dependencies: [],
      },
      {
        id: "task_003",
        title: "CDP Integration Documentation",
        description: "Document Chrome DevTools Protocol integration",
        scope: ["backend/cdp-controller.js"],
        priority: 1,
        dependencies: [],
      },
      {
        id: "task_004",
        title: "Integration Guide",
        description: "Write guide showing how components work together",
        scope: [],
        priority: 3,
        dependencies: ["task_001", "task_002", "task_003"],
      },
    ],
    parallelizable_groups: [["task_001", "task_002", "task_003"], ["task_004"]],
  },
};

/** Document 000, line 194. */
export const progress = {
  phase: "progress",
  data: {
    task_id: "task_001",
    status: "in_progress",
    progress_percent: 60,
    current_action: "Documenting /api/session endpoints",
    files_processed: 3,
    files_total: 5,
  },
};

/** Document 000, line 233. */
export const success = {
  phase: "completion",
  data: {
    task_id: "task_001",
    status: "success",
    summary: "Documented 15 REST endpoints with request/response examples",
    output_files: ["docs/api-rest.md"],
    metrics: { endpoints_documented: 15, examples_created: 8 },
  },
};

/** Document 000, line 250. */
export const failure = {
  phase: "completion",
  data: {
    task_id: "task_002",
    status: "failed",
    error: "Could not find WebSocket implementation in specified files",
    warnings: ["File server.js:2522-2600 does not contain WebSocket code"],
  },
};

/** Document 000, line 278. */
export const aggregation = {
  phase: "aggregation",
  data: {
    status: "success",
    summary: "Merged 4 documentation sections into unified docs",
    conflicts: [
      {
        type: "duplicate",
        description: "Both task_001 and task_003 documented the /api/status endpoint",
        resolution: "Kept version from task_001 as more complete",
      },
    ],
    output_files: ["docs/README.md", "docs/api.md", "docs/architecture.md"],
  },
};
