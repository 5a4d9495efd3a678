// Valid messages of every phase, generated from a seed, with content that breaks careless repairers.
import type { Random } from "../lab/random.ts";

export interface Message {
  phase: string;
  data: Record<string, unknown>;
}

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const chance = (random: Random, share: number): boolean => random() < share;

const SENTENCES = [
  "Found 5 main modules, two of them without tests.",
  "Don't touch the parser's cache; it's shared",
  'Use the "fast" mode for large files',
  'Both "read" and "write" paths lock the file',
  "See https://example.com/a?b=1,2#top for details",
  "Returns {ok: true} on success and [] otherwise",
  "Windows path C:\\Users\\dev\\project",
  "Matches \\d+\\s* at the start",
  "First line\nsecond line\n\nlast line",
  "Tabs\tand\ttabs",
  "A comment // is not one here, nor /* this */ # or this",
  "Trailing comma ,] and ,} stay",
  "Größe geändert, naïve café, 日本語テキスト, emoji 🎉",
  "true",
  "null",
  "42",
  "None of it: key: value",
  "curly “quotes” and ‘single’ ones",
  "back`tick` text",
  "",
  " leading and trailing ",
  "100% (50/50) = a+b; c",
  "ends with a backslash \\",
  "<b>bold</b> & more",
  "Say hello... and wait…",
  "a, b, c",
  "\\n is a newline",
  "```js\nconst a = {b: 1};\n```",
];
const WORDS = [
  "parser",
  "src/a.ts",
  "docs/api-rest.md",
  "backend/server.js:2400-2520",
  "task_001",
  "in_progress",
  "v1.2.3",
];

const sentence = (random: Random): string => pick(random, SENTENCES);
const list = <T>(random: Random, make: (random: Random) => T, most = 3): T[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, () => make(random));
const word = (random: Random): string => pick(random, WORDS);

/** Adds each optional member with a probability of one half. */
function some(random: Random, members: Record<string, () => unknown>): Record<string, unknown> {
  const chosen = Object.entries(members).filter(() => chance(random, 0.6));
  return Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
}

const MAKERS: Record<string, (random: Random) => Record<string, unknown>> = {
  analysis: (random) => ({
    summary: sentence(random),
    recommended_splits: Math.floor(random() * 20),
    ...some(random, {
      key_files: () => list(random, word),
      estimated_complexity: () => pick(random, ["low", "medium", "high"]),
      notes: () => sentence(random),
      warnings: () => list(random, sentence),
      components: () => list(random, (each) => ({ name: word(each), files: list(each, word), size: each() * 100 })),
    }),
  }),
  task_list: (random) => ({
    tasks: [0, 1, 2].map((index) => ({
      id: `task_00${index + 1}`,
      title: sentence(random),
      description: sentence(random),
      ...some(random, {
        scope: () => list(random, word),
        priority: () => 1 + Math.floor(random() * 10),
        dependencies: () => list(random, () => "task_001", 1),
        estimated_tokens: () => Math.floor(random() * 1e6),
      }),
    })),
    ...some(random, { total_tasks: () => 3, execution_order: () => ["task_001", "task_002", "task_003"] }),
  }),
  progress: (random) => ({
    task_id: "task_001",
    status: pick(random, ["in_progress", "blocked", "retrying"]),
    ...some(random, {
      progress_percent: () => Math.floor(random() * 101),
      current_action: () => sentence(random),
      files_processed: () => Math.floor(random() * 9),
      output_preview: () => sentence(random),
    }),
  }),
  completion: (random) => ({
    task_id: "task_001",
    status: pick(random, ["success", "partial", "failed", "timeout"]),
    ...some(random, {
      summary: () => sentence(random),
      output_files: () => list(random, word),
      output: () => pick(random, [sentence(random), 5, true, { text: sentence(random) }]),
      error: () => sentence(random),
      warnings: () => list(random, sentence),
      metrics: () => ({ endpoints: Math.floor(random() * 50), ratio: -1.5e-7, done: chance(random, 0.5), left: null }),
    }),
  }),
  aggregation: (random) => ({
    status: pick(random, ["success", "needs_input", "failed"]),
    ...some(random, {
      summary: () => sentence(random),
      conflicts: () =>
        list(random, (each) => ({ type: "duplicate", description: sentence(each), options: list(each, word) })),
      merged_output: () => sentence(random),
      output_files: () => list(random, word),
    }),
  }),
  verification: (random) => ({
    status: pick(random, ["passed", "failed", "passed_with_warnings"]),
    ...some(random, {
      summary: () => sentence(random),
      issues: () => list(random, (each) => ({ severity: "error", description: sentence(each), location: word(each) })),
      auto_fixed: () => list(random, sentence),
    }),
  }),
};

export function randomMessage(random: Random): Message {
  const phase = pick(random, Object.keys(MAKERS));
  return { phase, data: MAKERS[phase]!(random) };
}
