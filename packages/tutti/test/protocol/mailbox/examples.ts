// The examples of document 001, member by member.

/** Document 001, line 28. */
export const assignmentFile = {
  messages: [
    {
      type: "task_assignment",
      taskId: "task-001",
      platform: "web|android|ios|custom",
      title: "Task Title",
      instructions: "Detailed implementation instructions",
      filesToCreate: ["path/to/file1.ts", "path/to/file2.ts"],
      architecture: "Architecture pattern to follow",
      apiEndpoints: ["GET /api/resource", "POST /api/resource"],
      timestamp: "2024-01-01T00:00:00.000Z",
    },
  ],
  lastRead: null,
};

/** Document 001, line 65. */
export const reportFile = {
  messages: [
    {
      type: "completion_report",
      taskId: "task-001",
      platform: "web|android|ios|custom",
      status: "awaiting_review",
      summary: "Brief summary of implementation",
      filesCreated: ["path/to/created/file.ts"],
      filesModified: ["path/to/modified/file.ts"],
      buildResult: {
        status: "success|failed|not_applicable|not_verified",
        command: "npm run build",
        errors: 0,
        output: "Build output if failed",
      },
      timestamp: "2024-01-01T00:00:00.000Z",
    },
  ],
  lastRead: null,
};

/** Document 001, line 103. */
export const buildResult = {
  status: "success|failed|not_applicable|not_verified",
  command: "The build command executed",
  errors: 0,
  output: "Optional: Error output or relevant messages",
};

/** Document 001, line 136. */
export const clearedFile = {
  messages: [],
  lastRead: "2024-01-01T00:00:00.000Z",
};
