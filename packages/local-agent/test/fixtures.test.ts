import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { blocksOf } from "./agent-session.ts";
import {
  brokenLinks,
  type DocumentedRun,
  documentRepository,
  inventedNames,
  removeTemporaryFolders,
} from "./document.ts";

afterAll(removeTemporaryFolders);

const FIXTURES = [
  {
    name: "harbor",
    kind: "a TypeScript library with workspaces",
    pages: ["docs/README.md", "docs/architecture.md", "docs/board.md", "docs/cli.md", "docs/core.md"],
    names: {
      "docs/core.md": "planEntry Planner Plan Ship parseShip Height Phase Direction DRY FULL heightAt windows between",
      "docs/cli.md": "run",
      "docs/board.md": "showBoard",
    },
    absent: ["interpolate", "forget", "#ships"],
    phrases: {
      "docs/core.md": [
        "export async function* windows<T extends Height & { label?: string }>(\n  { table, draught = 3 }: { table: Iterable<T>; draught?: number },\n  ...margins: [before: number, after: number]\n): AsyncGenerator<{ from: number; to: number }, void, undefined>\n```",
        "  plan(): Plan\n  plan(limit: number): Plan\n}",
        "- `add`: Adds a ship at the end of the queue.",
        "- returns metres above the floor of the harbor",
        "[`packages/core/src/tide.ts:32`](../packages/core/src/tide.ts#L32)",
        'Used like this in [`packages/core/test/plan.spec.ts:8`](../packages/core/test/plan.spec.ts#L8):\n\n```ts\nassert.equal(plan(parseShip("Aurora;3.2"), table), 60);\n```',
        "## Used by\n\n- [@harbor/board](board.md): `Plan`\n- [@harbor/cli](cli.md)",
      ],
      "docs/board.md": ["The board on the quay, as lines of text.", "- [@harbor/core](core.md): `Plan`"],
      "docs/README.md": [
        "# Harbor\n\nPlans when ships may enter a tidal harbor",
        "| `npm run check` | runs `tsc --noEmit \\| tee check.log` |",
        "| [@harbor/core](core.md) | Tides, ships and the windows in which they fit together. | 4 |",
        "- [`packages/cli/src/main.ts`](../packages/cli/src/main.ts), entry of `@harbor/cli`",
      ],
    },
  },
  {
    name: "orders",
    kind: "a CommonJS service",
    pages: ["docs/README.md", "docs/architecture.md", "docs/lib.md", "docs/middleware.md", "docs/orders.md"],
    names: {
      "docs/lib.md": "total show Currency add find list reset EMPTY each",
      "docs/orders.md": "createServer router",
      "docs/middleware.md": "errors requestId module.exports",
    },
    absent: ["nextId", "_hidden"],
    phrases: {
      "docs/orders.md": [
        "| GET | `/:id(\\d+)` | [`routes/orders.js:15`](../routes/orders.js#L15) |",
        "- returns `import('express').Express`",
      ],
      "docs/lib.md": [
        "module.exports.show = (cents, { sign = '€' } = {}) => …",
        "assert.strictEqual(money.total([{ price: 250, count: 2 }, { price: 100 }]), 600)",
      ],
      "docs/README.md": ["| `express` | `4.21.2` | [orders](orders.md) |"],
    },
  },
  {
    name: "weather",
    kind: "a mixture of Python and Go",
    pages: ["docs/README.md", "docs/architecture.md", "docs/collector.md", "docs/forecast.md"],
    names: {
      "docs/forecast.md": "Forecast predict load main MAX_DISTANCE_KM",
      "docs/collector.md": "MaxAge ErrSilent Station Reader New",
    },
    absent: ["not_a_function", "_round", "errHidden", "reset("],
    phrases: {
      "docs/forecast.md": [
        'async def load(\n    path: str,\n    encoding: str = "utf-8",\n) -> dict[str, list[float]]',
        "    def is_pleasant(self) -> bool",
        "- `stations`: temperature by station",
        'assert predict({"north": 10.0, "south": 20.0}).degrees == 15.0',
      ],
      "docs/collector.md": [
        "func (s *Station) Read(options map[string]interface{}) (float64, error)",
        's := New("south")',
      ],
      "docs/README.md": [
        "| `forecast` | runs `forecast.cli:main` |",
        "| `numpy` | `>=2.0` | [forecast](forecast.md) |",
      ],
    },
  },
];

describe.each(FIXTURES)("the documentation of $name, $kind", ({ name, pages, names, absent, phrases }) => {
  const source = join(import.meta.dirname, "fixtures", name);
  const first: Promise<DocumentedRun> = documentRepository(source);

  test("has a page for every component, and an overview task that depends on all others", async () => {
    const run = await first;
    expect([...run.pages.keys()]).toEqual(pages);
    const overview = run.tasks.at(-1)!;
    expect(overview.dependencies).toEqual(run.tasks.slice(0, -1).map((task) => task.id));
    expect(run.tasks.map((task) => task.priority)).toEqual([...run.tasks.slice(0, -1).map(() => 1), 3]);
    expect(run.tasks.map((task) => task.id)).toEqual(run.tasks.map((_, index) => `task_00${index + 1}`));
    for (const page of pages.slice(1)) expect(run.pages.get("docs/README.md")).toContain(`](${page.slice(5)})`);
    expect(run.pages.get("docs/architecture.md")).toMatch(/^```mermaid\nflowchart LR\n(?: {2}c\d+.*\n)+```$/m);
  });

  test("covers every source file in exactly one component", async () => {
    const { analysis, tasks } = await first;
    const components = analysis.data["components"] as { files: string[] }[];
    const files = components.flatMap((component) => component.files);
    expect(new Set(files).size).toBe(files.length);
    for (const file of files)
      expect(tasks.filter(({ scope }) => scope.some((entry) => file.startsWith(entry)))).toHaveLength(1);
  });

  test("contains every exported name and no private one", async () => {
    const run = await first;
    for (const [page, list] of Object.entries(names)) {
      const text = run.pages.get(page)!;
      for (const exported of list.split(" ")) expect(text).toContain(`#### \`${exported}\`\n`);
      expect([...text.matchAll(/^#### /gm)]).toHaveLength(list.split(" ").length);
    }
    const all = [...run.pages.values()].join("\n");
    for (const hidden of absent) expect(all).not.toContain(hidden);
  });

  test("contains signatures, comments, examples and relations of the code", async () => {
    const run = await first;
    for (const [page, expected] of Object.entries(phrases)) {
      for (const phrase of expected) expect(run.pages.get(page)).toContain(phrase);
    }
  });

  test("contains only names that exist and links that resolve", async () => {
    const run = await first;
    expect(inventedNames(run.root, run.pages)).toEqual([]);
    expect(brokenLinks(run.root, run.pages)).toEqual([]);
    expect(run.verification.data).toMatchObject({ status: "passed", issues: [] });
  });

  test("quotes examples exactly as in the code", async () => {
    const run = await first;
    const quotes = [...run.pages.values()].flatMap((text) => [
      ...text.matchAll(/Used like this in \[`(.+?):(\d+)`\].*\n\n```\w+\n([\s\S]*?)\n```/g),
    ]);
    expect(quotes.length).toBeGreaterThan(1);
    for (const [, path, line, code] of quotes) {
      const lines = readFileSync(join(run.root, path!), "utf8")
        .split("\n")
        .slice(Number(line) - 1);
      for (const [index, quoted] of code!.split("\n").entries()) expect(lines[index]!.trim()).toContain(quoted.trim());
    }
  });

  test("comes from workers that report progress and write only their own page", async () => {
    const run = await first;
    for (const { task, lines, block, written } of run.completions) {
      expect(block).toMatchObject({
        phase: "completion",
        data: { task_id: task.id, status: "success", output_files: written },
      });
      // The overview has the diagram on a page of its own.
      expect(written).toHaveLength(task.title === "Write the overview" ? 2 : 1);
      const progress = blocksOf(lines).filter(({ phase }) => phase === "progress");
      expect(progress.length).toBeGreaterThan(1);
      expect(lines.some(({ type, name: tool }) => type === "tool" && tool === "Write")).toBe(true);
    }
    expect(run.aggregation.data).toMatchObject({ status: "success", conflicts: [], output_files: pages });
  });

  test("is identical in a second run and in a run on its own result", async () => {
    const run = await first;
    const again = await documentRepository(source);
    expect([...again.pages]).toEqual([...run.pages]);
    const onTop = await documentRepository(run.root);
    expect(onTop.completions.flatMap(({ written }) => written)).toEqual([]);
    // Tutti degrades a run whose task reports files that it did not change.
    for (const { block } of [...onTop.completions, { block: onTop.aggregation }])
      expect(block.data).toMatchObject({ output_files: [] });
    const unchanged = onTop.completions.flatMap(({ block }) => block.data["unchanged_files"]);
    expect(new Set(unchanged)).toEqual(new Set(run.pages.keys()));
    expect(onTop.verification.data).toMatchObject({ status: "passed" });
    for (const text of run.pages.values()) expect(text).not.toContain(run.root);
  });
});
