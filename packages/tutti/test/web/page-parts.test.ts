// Modules of the page that need no browser.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { literalTexts } from "./literal-texts.ts";
import { sharedSentences } from "./shared-sentences.ts";
import { describeProblem } from "../../../web/src/errors/problem.ts";
import { groupStages, stagesOf } from "../../../web/src/graph/group-stages.ts";
import { curve, layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey } from "../../../web/src/graph/layout.ts";
import { byCost } from "../../../web/src/inbox/item-look.ts";
import { subAgentsOf } from "../../../web/src/inspector/sub-agents-of.ts";
import { listLook } from "../../../web/src/list/list-look.ts";
import { filterRuns, orderRuns } from "../../../web/src/list/order-runs.ts";
import { recentLines } from "../../../web/src/run/activity.ts";
import { runTime, workerTime } from "../../../web/src/run/clock.ts";
import { steps } from "../../../web/src/run/phases.ts";
import { estimateEdited } from "../../../web/src/run/plan/estimate-edited.ts";
import {
  changesOf,
  editedTasks,
  freeId,
  hasChanges,
  NO_EDITS,
  problemOf,
  withoutAdded,
  type TaskEdit,
} from "../../../web/src/run/plan/plan-edits.ts";
import { changedFields, comparePlans } from "../../../web/src/run/plan/compare-plans.ts";
import { taskLook } from "../../../web/src/run/task-look.ts";
import { columnsOf, showsStatus, templateIcon, workerParts } from "../../../web/src/run/template-look.ts";
import { waitsOf } from "../../../web/src/timeline/timeline-waits.ts";
import { splitPatch } from "../../../web/src/changes/split-patch.ts";
import { readRoute, runAddress, runsAddress } from "../../../web/src/shell/page-route.ts";
import { agentName, ago, clock, duration, moment } from "../../../web/src/text/format.ts";
import { readMarkdown } from "../../../web/src/text/markdown.ts";
import { bounded, visible } from "../../../web/src/text/safe-text.ts";
import { sentenceReader, type SentenceMark } from "../../../web/src/text/sentence-reader.ts";
import { MIXED_SENTENCES, splitSentence } from "../../../web/src/text/mixed-sentence.ts";
import { pairResults } from "../../../web/src/transcript/pair-results.ts";
import { splitBlocks, wordsOf } from "../../../web/src/transcript/split-blocks.ts";
import { RequestError } from "../../src/client/request-error.ts";
import type { ListedRun, WaitingItem } from "../../src/client/run-summary.ts";
import { resultWarnings } from "../../src/run/outcome/outcome.ts";
import type { Run } from "../../src/schema/run.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { encodeTimeline } from "../../src/server/routes/encode-timeline.ts";
import { sentence, type Say } from "../../src/sentence.ts";
import { makeTemplate, Story } from "../run/make-run.ts";

describe("`layOut`", () => {
  const plan = [
    { id: "a", dependencies: [] },
    { id: "b", dependencies: ["a"] },
    { id: "c", dependencies: ["b"] },
    { id: "d", dependencies: ["a", "c"] },
  ];

  test("puts every task to the right of its dependencies", () => {
    const { nodes } = layOut(plan);
    for (const { id, dependencies } of plan) {
      for (const from of dependencies) expect(nodes.get(from)!.x + NODE_WIDTH).toBeLessThan(nodes.get(id)!.x);
    }
  });

  test("routes an edge around the tasks between its ends", () => {
    const { nodes, edges } = layOut(plan);
    const long = edges.find(({ from, to }) => from === "a" && to === "d")!;
    for (const id of ["b", "c"]) {
      const { x, y } = nodes.get(id)!;
      const beside = long.points.filter((point) => point.x >= x && point.x <= x + NODE_WIDTH);
      expect(beside.length).toBeGreaterThan(0);
      for (const point of beside) expect(point.y < y || point.y > y + NODE_HEIGHT).toBe(true);
    }
    expect(curve(long.points)).toMatch(/^M[\d.]+ [\d.]+(C([\d.]+ ?){6})+$/);
  });

  test("depends only on ids and dependencies, and draws an invalid plan too", () => {
    expect(shapeKey([{ ...plan[0]!, title: "x" } as never])).toBe(shapeKey([plan[0]!]));
    expect(shapeKey(plan)).not.toBe(shapeKey(plan.slice(1)));
    const { nodes } = layOut([
      { id: "a", dependencies: ["b", "nowhere", "a"] },
      { id: "b", dependencies: ["a"] },
      { id: "b", dependencies: [] },
    ]);
    expect([...nodes.keys()]).toEqual(["a", "b"]);
  });
});

describe("`groupStages`", () => {
  const plan = [
    { id: "a", dependencies: [] },
    { id: "b", dependencies: [] },
    { id: "c", dependencies: ["a"] },
    { id: "d", dependencies: ["a", "b"] },
    { id: "e", dependencies: ["c", "nowhere"] },
  ];
  const stages = [["a", "b"], ["c", "d"], ["e"]];

  test("replaces the tasks of each closed stage by one node with their dependencies", () => {
    const { shapes, closed } = groupStages(plan, stages, new Set([1]));
    expect(shapes).toEqual([
      { id: "a", dependencies: [] },
      { id: "b", dependencies: [] },
      { id: "stage 2", dependencies: ["a", "b"] },
      // A stage of one task stays this task.
      { id: "e", dependencies: ["stage 2", "nowhere"] },
    ]);
    expect([...closed]).toEqual([["stage 2", { number: 2, tasks: ["c", "d"] }]]);
    expect(groupStages(plan, [], new Set()).shapes).toEqual(plan);
    expect(stagesOf(stages, new Set(["d", "e"]))).toEqual([2, 3]);
  });
});

test("`subAgentsOf` lists the sub-agents of a task below the ones that started them", () => {
  const subagent = (startedAt: number, taskId: string | null, parentSessionId?: string) => ({
    sessionId: "s",
    taskId,
    taskToolId: null,
    description: null,
    startedAt,
    endedAt: null,
    ...(parentSessionId !== undefined && { parentSessionId }),
  });
  const subagents = {
    late: subagent(3, "a"),
    early: subagent(1, "a"),
    child: subagent(4, "a", "early"),
    main: subagent(2, null),
  };
  const rows = (taskId: string | null) =>
    subAgentsOf({ subagents } as unknown as Run, taskId).map(([id, , depth]) => [id, depth]);
  expect(rows("a")).toEqual([
    ["early", 0],
    ["child", 1],
    ["late", 0],
  ]);
  expect(rows(null)).toEqual([["main", 0]]);
});

test("A result is shown with its call, and alone if its call is not loaded", () => {
  const tool = { n: 1, type: "tool", name: "Read", input: {}, id: "a" } as const;
  const result = { n: 2, type: "toolResult", id: "a", text: "two lines" } as const;
  expect(pairResults([tool, result])).toEqual([{ entry: tool, result: "two lines" }]);
  expect(pairResults([result])).toEqual([{ entry: result }]);
  const unnamed = { n: 3, type: "tool", name: "Read", input: {} } as const;
  expect(pairResults([unnamed])).toEqual([{ entry: unnamed }]);
});

describe("Untrusted text", () => {
  test("is shown with its bidi and control characters escaped", () => {
    expect(visible("a\u202Eb\u2066c\u0007\u0000")).toBe(String.raw`a\u202eb\u2066c\u0007\u0000`);
    expect(visible("\u001b[1;31mred\u001b[0m\r\nline\tend")).toBe("red\nline\tend");
    expect(visible("שלום 你好 👩‍👩‍👧 é")).toBe("שלום 你好 👩‍👩‍👧 é");
  });

  test("shows what is invisible, and keeps the joiners of emoji and of scripts that need them", () => {
    expect(visible("adm\u200bin \u00ad\u2060\ufeff\u{e0041}")).toBe(String.raw`adm\u200bin \u00ad\u2060\ufeff\ue0041`);
    expect(visible("a\u200db")).toBe(String.raw`a\u200db`);
    expect(visible("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")).toBe(
      "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    );
    expect(visible("\u001b]8;;http://evil\u0007link\u001b]8;;\u001b\\ end\u001b[?25l")).toBe("link end");
  });

  test("is truncated, but never within a surrogate pair", () => {
    expect(bounded("abc", 3)).toBe("abc");
    expect(bounded("abcd", 3)).toBe("abc …");
    expect(bounded("ab👍", 3)).toBe("ab …");
  });
});

describe("Text of an agent", () => {
  const format = { delimiterStart: "<<", delimiterEnd: ">>" };

  test("is split into words and reports", () => {
    expect(splitBlocks('before << {"phase": "task_list"} >> after', format)).toEqual([
      { kind: "words", text: "before" },
      { kind: "report", phase: "task list", text: '{"phase": "task_list"}' },
      { kind: "words", text: "after" },
    ]);
    expect(splitBlocks("an << open one", format)).toEqual([{ kind: "words", text: "an << open one" }]);
  });

  test("is previewed without its reports, even if a report is cut off", () => {
    expect(wordsOf("I am << {} >> here", format)).toBe("I am here");
    expect(wordsOf("I am << {", format)).toBe("I am");
    // The preview is the end of a longer text, so it may begin within a report.
    expect(wordsOf('"phase": "progress"} >> I go on', format)).toBe("I go on");
    const long = { delimiterStart: "<<<RESPONSE>>>", delimiterEnd: "<<<END>>>" };
    expect(wordsOf('SE>>> {"phase":"progress"', long)).toBe("");
    expect(wordsOf('SE>>> {"phase":"progress"} <<<END>>> and then', long)).toBe("and then");
    expect(wordsOf("E is a letter", long)).toBe("E is a letter");
  });
});

test("`orderRuns` puts runs that wait for the user first, then the newest", () => {
  const run = (id: string, status: string, createdAt: string) =>
    ({ id, status, createdAt, updatedAt: "2026-02-01" }) as ListedRun;
  const runs = [
    run("old", "running", "2026-01-01"),
    run("asks", "running", "2026-01-02"),
    run("new", "error", "2026-01-04"),
  ];
  const plan = run("plan", "confirming", "2026-01-03");
  const { needsYou, others, questions } = orderRuns([...runs, plan], [
    { kind: "question", run: "asks" },
    { kind: "plan", run: "plan" },
    { kind: "failure", run: "new" },
  ] as WaitingItem[]);
  // A failed task needs a decision too.
  expect(needsYou.map(({ id }) => id)).toEqual(["new", "plan", "asks"]);
  expect(others.map(({ id }) => id)).toEqual(["old"]);
  expect([...questions]).toEqual([
    ["asks", 1],
    ["new", 1],
  ]);
  const texts = { userRequest: "Write Docs", cwd: "/work/shop", templateId: "documentation", agent: "local" };
  const now = Date.parse("2026-02-01");
  const active = (id: string, part: object) => ({ ...run(id, "running", "2026-01-01"), ...part });
  const held = active("held", { heldSince: "2026-02-01" });
  const quiet = active("quiet", { updatedAt: "2026-01-31", quietAfterMs: 1000 });
  const all = [...runs, plan, held, quiet].map((each) => ({ ...each, ...texts }));
  const found = (state: string, text: string) =>
    filterRuns(all, { state, text }, questions, (each) => listLook(each, questions.get(each.id) ?? 0, now, 0)).map(
      ({ id }) => id,
    );
  expect(found("you", "")).toEqual(["asks", "new", "plan"]);
  expect(found("failed", "")).toEqual(["new"]);
  expect(found("active", "docs shop")).toEqual(["old", "asks", "plan", "held", "quiet"]);
  expect(["running", "waiting", "stalled"].map((state) => found(state, ""))).toEqual([["old"], ["held"], ["quiet"]]);
  expect(found("", "docs elsewhere")).toEqual([]);
  expect(found("unknown", "OLD")).toEqual(["old"]);
});

test("A phase that the template disables is skipped, not done", () => {
  const { run } = new Story(makeTemplate());
  const states = (status: object) => steps({ ...run, ...status }).map(({ state }) => state);
  expect(states({})).toEqual(["ahead", "ahead", "ahead", "ahead", "skipped"]);
  expect(states({ status: "confirming", currentPhase: "taskPlanning" })).toEqual([
    "done",
    "waiting",
    "ahead",
    "ahead",
    "skipped",
  ]);
  expect(states({ status: "error", currentPhase: "analysis" })[0]).toBe("stopped");
  expect(states({ status: "completed", currentPhase: "aggregation" }).slice(3)).toEqual(["skipped", "skipped"]);
});

test("Times have 24 hours everywhere", () => {
  const evening = new Date(2026, 10, 18, 22, 45, 13).getTime();
  expect([clock(evening), moment(evening), ago(evening, evening + 86_400_000)]).toEqual([
    "22:45:13",
    "11/18/2026, 22:45:13",
    "Nov 18, 22:45",
  ]);
});

test("`duration` and `agentName` return short texts", () => {
  expect([400, 61_000, 3_723_000].map(duration)).toEqual(["<1s", "1m 01s", "1h 02m"]);
  expect(agentName("command:/usr/local/bin/my-agent --fast")).toBe("command:my-agent");
  expect(agentName("cdp:http://127.0.0.1:9222")).toBe("cdp:http://127.0.0.1:9222");
  expect(agentName("local")).toBe("local");
});

test("Inbox items that stop a whole run come first, then the nearest deadline, then the oldest", () => {
  const item = (id: string, kind: string, more: object = {}) =>
    ({ id, kind, taskId: "a", createdAt: "2026-01-02", ...more }) as WaitingItem;
  const items = [
    item("failure", "failure"),
    item("question", "question"),
    item("old", "question", { createdAt: "2026-01-01" }),
    item("expiring", "permission", { expiresAt: "2026-01-03" }),
    item("main", "question", { taskId: null }),
    item("unknown", "of a newer server"),
  ];
  expect(byCost(items).map(({ id }) => id)).toEqual(["main", "expiring", "old", "question", "unknown", "failure"]);
});

test("A clock stands still while a run or a worker is paused or waits", () => {
  const { run } = new Story(makeTemplate());
  const started = { ...run, startedAt: 1000, idleMs: 500, idleSince: null };
  expect(runTime(run, 9000)).toBeNull();
  expect(runTime(started, 9000)).toBe(7500);
  expect([runTime({ ...started, idleSince: 4000 }, 9000), runTime({ ...started, idleSince: 4000 }, 99_000)]).toEqual([
    2500, 2500,
  ]);
  const session = { pausedAt: null, refusedSince: null, waitedMs: 200 };
  const worker = (more: object) => ({ startedAt: 1000, completedAt: null, session: { ...session, ...more } }) as never;
  expect([workerTime(worker({}), 9000), workerTime(worker({ pausedAt: 4000 }), 9000)]).toEqual([7800, 2800]);
});

test("The timeline has the waits for a provider, also those that have ended", () => {
  const story = new Story().execute([{ id: "a" }, { id: "b" }]);
  story.spawn("a");
  story.spawn("b");
  const refused = { ending: { kind: "error", detail: "busy", cause: "overloaded" } } as const;
  const words = () => {
    const timeline = encodeTimeline(() => story.log as StoredEvent[]);
    return Object.fromEntries(
      timeline.sessions.map((session) => [
        session.taskId ?? "main",
        waitsOf(timeline, session).map(({ word }) => word),
      ]),
    );
  };
  const main = ["Waited <1s for you: Plan"];
  expect(words()).toEqual({ main, a: [], b: [] });
  story.answerWorker("a", null, refused);
  expect(words()).toEqual({ main, a: ["Waits for the provider"], b: [] });
  story.do({ type: "tick" }, 60_000);
  story.succeed("a");
  expect(words()).toEqual({ main, a: ["Waited 1m 00s for the provider"], b: [] });
  // A worker that is cancelled while it waits, waits no longer.
  story.answerWorker("b", null, refused);
  story.do({ type: "cancelWorker", sessionId: story.run.workers["b"]!.sessionId }, 2000);
  expect(words()["b"]).toEqual(["Waited 2s for the provider"]);
});

test("The reason of a failure is marked as words of an agent only if it is one", () => {
  const story = new Story().execute([{ id: "a" }, { id: "b" }]);
  story.spawn("a");
  story.spawn("b");
  const failed = { task_id: "a", status: "failed", error: "All checks passed" } as const;
  story.answerWorker("a", { phase: "completion", data: failed });
  for (let tries = 0; tries < 3; tries++) story.answerWorker("b", null);
  const lines = story.log.flatMap((event) =>
    event.type === "worker:failed" ? recentLines([{ ...event, seq: 1 } as StoredEvent], story.run) : [],
  );
  expect(lines.map(({ title, words }) => [title, words])).toEqual([
    ["a failed", "All checks passed"],
    ["b failed: no usable answer after 3 tries: The answer contains no block.", ""],
  ]);
});

test("A request that the server forbids has its reason, and one without a session the way to sign in", () => {
  const problem = (code: string) =>
    describeProblem(new RequestError(code, "An agent with a program is rejected", { status: 403 }));
  expect(problem("forbidden").title).toBe("An agent with a program is rejected");
  expect(problem("unauthorized").title).toBe("This browser is not signed in");
});

test("A worker that waits for a permission needs the user, like one that asks", () => {
  const story = new Story(makeTemplate());
  const task = { id: "a", title: "a", description: "a", scope: [], priority: 5, dependencies: [] };
  const worker = { taskId: "a", status: "running", session: { state: "running" } };
  const run = { ...story.run, status: "running" as const, tasks: [task], workers: { a: worker } as never };
  const asks = (kind: string) => ({ ...run, inbox: { i: { id: "i", kind, taskId: "a" } } as never });
  expect(taskLook(run, task).word).toBe("Working");
  for (const kind of ["question", "permission", "of a newer server"])
    expect([kind, taskLook(asks(kind), task).word]).toEqual([kind, "Needs you"]);
});

describe("The edits of a plan", () => {
  const task = (id: string, dependencies: string[] = []) => ({
    id,
    title: `Title of ${id}`,
    description: `Do ${id}`,
    scope: [],
    priority: 5,
    dependencies,
  });
  const plan = [task("a"), task("b", ["a"]), task("c", ["a", "b"])];

  test("become the body of the confirmation, with only what differs", () => {
    expect(changesOf(plan, NO_EDITS)).toEqual({ modifications: {} });
    const edits = {
      tasks: {
        a: { title: "New", priority: 5 },
        c: { skip: true },
        "added-1": { title: "More", description: "Do it" },
      },
      added: ["added-1"],
      removed: ["b"],
      usd: "3",
    };
    expect(changesOf(plan, edits)).toEqual({
      modifications: { a: { title: "New" }, c: { skip: true, satisfied: false } },
      added: [{ id: "added-1", title: "More", description: "Do it", scope: [], priority: 5, dependencies: [] }],
      removed: ["b"],
      budget: { usd: 3 },
    });
    expect(editedTasks(plan, edits).map(({ id, dependencies }) => [id, dependencies])).toEqual([
      ["a", []],
      ["c", ["a"]],
      ["added-1", []],
    ]);
    expect(freeId(plan, edits)).toBe("added-2");
    const skipsAdded = { ...NO_EDITS, tasks: { "added-1": { skip: true } }, added: ["added-1"] };
    expect(changesOf(plan, skipsAdded)).toMatchObject({
      modifications: { "added-1": { skip: true } },
      added: [{ id: "added-1" }],
    });
  });

  test("keep nothing of an added task that was removed again", () => {
    const tasks = { b: { dependencies: ["a", "added-1"] }, "added-1": { title: "More" } };
    const left = withoutAdded({ ...NO_EDITS, tasks, added: ["added-1"] }, "added-1");
    expect(left).toEqual({ ...NO_EDITS, tasks: { b: { dependencies: ["a"] } } });
    expect([problemOf(plan, left), hasChanges(changesOf(plan, left))]).toEqual([null, false]);
  });

  test("are none if what was changed was changed back", () => {
    const tasks = { a: { title: "Title of a", agent: "" }, b: { skip: false }, c: { dependencies: ["b", "a"] } };
    expect(changesOf(plan, { ...NO_EDITS, tasks })).toEqual({ modifications: {} });
    expect(hasChanges({ modifications: {} })).toBe(false);
    expect(hasChanges({ modifications: { a: { skip: true } } })).toBe(true);
    expect(hasChanges({ modifications: {}, removed: ["a"] })).toBe(true);
  });

  test("are refused with a reason if the plan would be unusable", () => {
    const of = (tasks: Record<string, TaskEdit>, more: object = {}) => problemOf(plan, { ...NO_EDITS, tasks, ...more });
    expect(of({})).toBeNull();
    expect(of({ a: { title: " " } })).toBe("a needs a title and a description.");
    expect(of({ a: { dependencies: ["c"] } })).toBe("a, b, c depend on each other.");
    expect(of({}, { removed: ["a", "b", "c"] })).toBe("The plan has no tasks.");
    expect(of({}, { usd: "-1" })).toBe("The budget must be more than 0.");
  });

  test("scale the estimate of the server by the work, the workers and the longest chain that they leave", () => {
    const four = ["a", "b", "c", "d"].map((id) => task(id));
    const times = { minutes: 20, criticalPath: ["a"], criticalMinutes: 10 };
    const known = { ...times, basis: "history" as const, samples: 9, usd: 8, tokens: 400, advice: [] };
    const template = { config: { maxWorkers: 2, parallelExecution: true } };
    const estimateOf = (tasks: typeof four) => estimateEdited(known, { tasks: four, template }, tasks);
    expect(estimateOf(four)).toEqual(known);
    expect(estimateOf(four.slice(2))).toMatchObject({ minutes: 10, usd: 4, tokens: 200, criticalMinutes: 10 });
    expect(estimateOf([...four, task("e"), task("f")])).toMatchObject({ minutes: 30, usd: 12, tokens: 600 });
    const chain = [task("a"), task("b", ["a"]), task("c", ["b"]), task("d", ["c"])];
    const criticalPath = ["a", "b", "c", "d"];
    expect(estimateOf(chain)).toMatchObject({ minutes: 40, usd: 8, criticalPath, criticalMinutes: 40 });
  });
});

test("`comparePlans` names new, removed and changed tasks", () => {
  const task = (id: string, title = id) => ({ id, title, description: id, scope: [], priority: 5, dependencies: [] });
  expect(comparePlans([task("a"), task("b"), task("c")], [task("b", "B"), task("c"), task("d")])).toEqual({
    added: ["d"],
    removed: ["a"],
    changed: ["b"],
  });
  const before = { ...task("b"), scope: ["src"], labels: { gpu: "yes" } };
  const after = { ...task("b", "B"), scope: ["src", "docs"], dependencies: ["c"], agent: "local", priority: 1 };
  expect(changedFields([before, task("a")], [after, task("d")])).toEqual([
    { id: "b", field: "title", before: "b", after: "B" },
    { id: "b", field: "scope", before: "src", after: "src\ndocs" },
    { id: "b", field: "dependencies", before: "", after: "c" },
    { id: "b", field: "priority", before: "5", after: "1" },
    { id: "b", field: "agent", before: "", after: "local" },
    { id: "b", field: "labels", before: "gpu=yes", after: "" },
  ]);
  expect(comparePlans([task("a")], [{ ...task("a"), labels: { gpu: "yes" } }]).changed).toEqual(["a"]);
});

const folder = join(import.meta.dirname, "../../../web/src");
const french = JSON.parse(readFileSync(join(folder, "text/french.json"), "utf8")) as Record<string, string>;

test("Every French text has the placeholders of its English one, and every text is used", () => {
  const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
  for (const [english, text] of Object.entries(french)) {
    expect([english, placeholders(text)]).toEqual([english, placeholders(english)]);
  }
  const files = globSync("**/*.{ts,tsx}", { cwd: folder });
  const sources = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const isUsed = (text: string) => [`"${text}"`, `'${text}'`].some((quoted) => sources.includes(quoted));
  // `plural` adds the s of a noun; the names of filters are the keys of a table.
  const isDerived = (text: string) => isUsed(text.replace(/s$/, "")) || sources.includes(`  ${text}: (`);
  const shared = sharedSentences();
  expect(Object.keys(french).filter((text) => !shared.has(text) && !isUsed(text) && !isDerived(text))).toEqual([]);
});

describe("Sentences that Tutti writes outside the dashboard", () => {
  test("are in the catalogue: those of events, of inbox items, of plans, of the machine and of built-in templates", () => {
    const shared = sharedSentences();
    expect([...shared].filter((key) => french[key] === undefined)).toEqual([]);
    for (const key of ["was approved by {by}#log", "try it again#log", "free space#doctor", "Testing#template"])
      expect([key, shared.has(key)]).toEqual([key, true]);
    expect(shared.has("Task {taskId} ({title}) did not complete: {error}#stored")).toBe(true);
    // A sentence of an event or a result that passes through neither `say` nor `sentence` would stay English.
    const sources = ["describe-event", "outcome/outcome", "outcome/repository-warnings", "outcome/used-names"];
    for (const name of sources) {
      const source = readFileSync(join(import.meta.dirname, `../../src/run/${name}.ts`), "utf8");
      expect([name, literalTexts(source)]).toEqual([name, []]);
    }
  });

  test("are read back from the log with their values", () => {
    const read = sentenceReader(french);
    const asIs = (text: string) => text;
    for (const [key, translation] of Object.entries(french)) {
      const [english, mark] = [
        key.replace(/#\w+$/, ""),
        /#(stored|doctor)$/.exec(key)?.[0] as SentenceMark | undefined,
      ];
      if (mark === undefined) continue;
      const names = english.match(/(?<=\{)\w+(?=\})/g) ?? [];
      const values = Object.fromEntries(names.map((name) => [name, `${name}-1`]));
      expect(read(sentence(english, values), mark, asIs)).toBe(sentence(translation, values));
    }
  });

  test("are translated in the warnings of a result", () => {
    const read = sentenceReader(french);
    const say: Say = (text, values) =>
      values === undefined
        ? (french[`${text}#log`] ?? read(text, "#stored", say))
        : sentence(french[`${text}#log`] ?? text, values);
    const story = new Story().execute([{ id: "a" }]);
    const { run } = story;
    const warned = {
      ...run,
      unproven: ['it reported files that the run did not change: "x.md"'],
      redBase: [{ name: "test", run: "npm test", exitCode: 1, durationMs: 1, output: "" }],
      repositoryChanges: [{ taskId: null, refs: [], settings: ["core.editor"], more: 0 }],
      gate: { production: { overrides: [{ by: "ann", reason: "in a hurry", at: 1, commit: null }] } },
    } as unknown as Run;
    expect(resultWarnings(warned, say)).toEqual([
      "main: il a annoncé des fichiers que l'exécution n'a pas modifiés : \"x.md\".",
      "Les fusions n'ont pas été contrôlées, car sans le travail de la tâche suivante la commande « test » a échoué avec le code 1 déjà.",
      "Pendant que la session principale était active, le dépôt a changé : le réglage core.editor. Si ce n'était pas vous, vérifiez-les avant de continuer.",
      "La porte de production a été forcée par ann : in a hurry",
    ]);
  });

  test("are translated within other sentences, and words of agents stay as they are", () => {
    const read = sentenceReader(french);
    const say = (text: string): string => french[`${text}#log`] ?? read(text, "#stored", say);
    expect(say("Task a (leave it) did not complete: Worker timed out after 500ms")).toBe(
      "La tâche a (leave it) ne s'est pas terminée : L'agent a dépassé son délai de 500 ms",
    );
    expect(say("The run has used 2 of 1 turns. May it use as much again?")).toBe(
      "L'exécution a utilisé 2 tours sur 1. Peut-elle en utiliser encore autant ?",
    );
    const sayCheck = (text: string): string => read(text, "#doctor", sayCheck);
    expect(sayCheck("bubblewrap 0.8.0 at /usr/bin/bwrap works")).toBe(
      "bubblewrap 0.8.0 dans /usr/bin/bwrap fonctionne",
    );
    expect(
      sayCheck("psql at /a/psql, postgres at /b/postgres; needed only to distribute work over several machines"),
    ).toBe(
      "psql dans /a/psql, postgres dans /b/postgres ; nécessaire seulement pour répartir le travail sur plusieurs machines",
    );
    expect(say("The hook onTasksGenerated failed: Worker timed out after 500ms")).toBe(
      "Le hook onTasksGenerated a échoué : L'agent a dépassé son délai de 500 ms",
    );
    expect(say("Criterion not met: it builds")).toBe("Critère non rempli : it builds");
    expect(say('it reported files that do not exist: "a.ts", "b.ts" (and 3 more)')).toBe(
      'il a annoncé des fichiers qui n\'existent pas : "a.ts", "b.ts" (et 3 de plus)',
    );
    expect(sayCheck("25.3 GB free on the disk of the data folder")).toBe(
      "25,3 Go libres sur le disque du dossier de données",
    );
    for (const words of ["no luck", "it needs the keys of the provider", `{title} ${"w and ".repeat(20_000)}`])
      expect(say(words)).toBe(words);
  });
});

test("Within a sentence of Tutti, only the words of an agent are marked as theirs", () => {
  expect(splitSentence("Task a (leave it) did not complete: no (luck) did not complete: x")).toEqual([
    { text: "Task ", isOfAgent: false },
    { text: "a", isOfAgent: false },
    { text: " (", isOfAgent: false },
    { text: "leave it", isOfAgent: true },
    { text: ") did not complete: ", isOfAgent: false },
    { text: "no (luck) did not complete: x", isOfAgent: true },
  ]);
  expect(splitSentence("no luck")).toBeNull();
  // Every sentence with a value of an agent is split, except those whose value Tutti itself writes.
  const ofTutti = ["A block could not be used: {error}."];
  const keys = Object.keys(french).filter((key) => key.endsWith("#stored"));
  const sentences = keys.map((key) => key.slice(0, -"#stored".length));
  const mixed = sentences.filter((each) => /\{(title|error|value|reason)\}/.test(each) && !ofTutti.includes(each));
  expect(mixed.filter((each) => !MIXED_SENTENCES.includes(each))).toEqual([]);
  expect(MIXED_SENTENCES.filter((each) => !sentences.includes(each))).toEqual([]);
});

/** Files whose texts are the same in every language. */
const UNTRANSLATED = new Set([
  // Each name of a language is in that language.
  "shell/language-toggle.tsx",
  // A page for the developers of the dashboard.
  "parts/parts-page.tsx",
  // Agents read these sentences.
  "changes/comment-target.ts",
  "changes/rework-notes.ts",
  // Names that programs compare.
  "graph/group-stages.ts",
  "new-run/agent-choices.ts",
  // Keys of the catalogue, which another test compares with it.
  "text/mixed-sentence.ts",
  "text/safe-text.ts",
]);

test("Every text of the pages passes through `translate`", () => {
  expect(
    literalTexts(`
    const Part = ({ left }) => (
      <p title="A title" className="wide row">
        Words {left > 0 ? "more" : translate("Nothing left")} <code>tutti list</code>
        <Facts rows={[[translate("Budget"), \`\${left} left\`], "a request"]} />
      </p>
    );`),
  ).toEqual(["3: A title", "4: Words", "4: more", "5: left", "5: a request"]);
  const files = globSync("**/*.{ts,tsx}", { cwd: folder }).filter((name) => !UNTRANSLATED.has(name));
  expect(
    files.flatMap((name) => literalTexts(readFileSync(join(folder, name), "utf8")).map((text) => `${name}:${text}`)),
  ).toEqual([]);
});

test("`readMarkdown` reads code, headings, lists and emphasis, and leaves links and markup as text", () => {
  const text =
    "# Title\n\nSome `code` and **bold**.\n- one\n  2. two\n```js\nx < 1\n```\n[a](javascript:alert(1)) <b>\n~~~\nopen";
  expect(readMarkdown(text)).toEqual([
    { kind: "heading", inlines: [{ kind: "text", text: "Title" }] },
    {
      kind: "paragraph",
      inlines: [
        { kind: "text", text: "Some " },
        { kind: "code", text: "code" },
        { kind: "text", text: " and " },
        { kind: "strong", text: "bold" },
        { kind: "text", text: "." },
      ],
    },
    { kind: "item", depth: 0, mark: "•", inlines: [{ kind: "text", text: "one" }] },
    { kind: "item", depth: 1, mark: "2.", inlines: [{ kind: "text", text: "two" }] },
    { kind: "code", text: "x < 1" },
    { kind: "paragraph", inlines: [{ kind: "text", text: "[a](javascript:alert(1)) <b>" }] },
    { kind: "code", text: "open" },
  ]);
});

test("`splitPatch` numbers the lines of both versions", () => {
  const patch =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ f\n same\n-old\n+new\n+more\n\\ No newline at end of file\n";
  expect(splitPatch(patch).map(({ kind, text, before, after }) => [kind, text, before, after])).toEqual([
    ["hunk", "@@ -3,2 +3,3 @@ f", null, null],
    ["same", "same", 3, 3],
    ["removed", "old", 4, null],
    ["added", "new", null, 4],
    ["added", "more", null, 5],
    ["note", " No newline at end of file", null, null],
  ]);
  expect(splitPatch("Binary files differ\n")).toEqual([]);
});

test("Every address is read back as it was written", () => {
  const place = {
    tab: "changes",
    taskView: "timeline",
    find: "a & b",
    log: "raw",
    task: "b",
    beside: "c",
    session: "task.one",
    part: "attempts",
    attempt: 2,
    entry: 7,
    kind: "tools",
    words: "rm -rf",
  } as const;
  expect(readRoute(runAddress("orch_1", place))).toEqual({ view: "run", id: "orch_1", ...place });
  expect(runAddress("orch_1")).toBe("/runs/orch_1");
  expect(readRoute("/runs/orch_1?tab=nowhere&view=x&part=nothing&attempt=x&entry=-1&kind=x&log=x")).toEqual({
    ...readRoute("/runs/orch_1"),
  });
  expect(readRoute(runsAddress({ state: "failed", text: "a b&c" }))).toEqual({
    view: "runs",
    filter: { state: "failed", text: "a b&c" },
  });
  expect(readRoute("/runs/new").view).toBe("new");
  expect(readRoute("/elsewhere").view).toBe("unknown");
});

describe("`ui` of a template", () => {
  const uiOf = (ui: Partial<Run["template"]["ui"]>) => ({ ...makeTemplate().ui, ...ui });

  test("gives a run its mark, the parts of a worker's card and the columns of the table", () => {
    expect([templateIcon(uiOf({ icon: "zap" })), templateIcon(uiOf({ icon: "constructor" }))]).toEqual(["zap", "file"]);
    expect([...workerParts(uiOf({}))]).toEqual(["action", "bar", "words", "tools"]);
    expect([...workerParts(uiOf({ showWorkerDetails: false }))]).toEqual(["action", "bar"]);
    expect([...workerParts(uiOf({ showProgressBar: false, progressStyle: "compact" }))]).toEqual(["action"]);
    expect([...workerParts(uiOf({ progressStyle: "simple" }))]).toEqual(["bar"]);
    expect([...workerParts(uiOf({ progressStyle: "minimal" }))]).toEqual([]);
    const ui = uiOf({ workerColumns: ["files", "tokens", "progress", "tools", "files"] });
    expect([showsStatus(uiOf({})), showsStatus(ui)]).toEqual([true, false]);
    const worker = {
      progress: 40,
      outputFiles: ["a", "b"],
      usage: { inputTokens: 900, outputTokens: 50, usd: 0 },
      toolStats: { total: 7 },
    } as unknown as Run["workers"][string];
    const cells = columnsOf(ui).map(({ title, text }) => [title, text(worker, 0)]);
    expect(cells).toEqual([
      ["Files", "2"],
      ["Tokens", "950"],
      ["Progress", "40 %"],
      ["Tools", "7"],
    ]);
  });
});
