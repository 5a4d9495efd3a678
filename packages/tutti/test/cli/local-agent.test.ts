// Whole runs of the real engine with the built-in agent as a process.
import { afterEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { MARKER } from "../../../local-agent/src/read/marker.ts";

let lab: InProcessLab;
afterEach(() => lab.tearDown());

const CODE = {
  "package.json": '{"name":"shop","description":"Sells books."}',
  "cart/package.json": '{"name":"cart"}',
  "cart/index.ts": "// Holds books.\n/** Adds a book. */\nexport function add(): void {}\n",
  "stock/package.json": '{"name":"stock"}',
  "stock/index.ts": "// Counts books.\n/** Counts all books. */\nexport function count(): number {\n  return 1;\n}\n",
};
const run = (): string[] => ["run", "Document this repository", "--cwd", lab.repo, "--agent", "local"];

describe("a run with the built-in agent", () => {
  it("is degraded by a fault that only the verification finds, and names it", async () => {
    // The tasks of this page and of the overview, which would find the fault, are skipped.
    lab = new InProcessLab({ ...CODE, "docs/cart.md": `${MARKER}\n# cart\n\n*/\n\n## Reference\n` });
    const planned = await lab.json(run());
    expect(planned.last.error?.code).toBe("needs_confirmation");
    const created = lab.events().find(({ type }) => type === "orchestrator:created")!;
    const skipped = ["--skip", "task_001", "--skip", "task_003"];
    const { code, last } = await lab.json(["confirm", created.run!, ...skipped]);
    expect(code).toBe(1);
    expect(last).toMatchObject({
      status: "completed",
      outcome: "degraded",
      census: { planned: 3, completed: 1, skipped: 2 },
      causes: [{ taskId: "main", status: "partial", reason: "docs/cart.md:4: The line is only a comment mark." }],
      verification: {
        status: "passed_with_warnings",
        auto_fixed: ["Removed links to pages of skipped tasks from docs/stock.md."],
      },
    });
    expect((await lab.tutti(["status", created.run!])).stdout).toContain("The line is only a comment mark.");
  });

  it("follows the variables of the template that the user sets", async () => {
    lab = new InProcessLab(CODE);
    const variables = ["--var", "DOCS_FOLDER=handbook", "--var", "AUDIENCE=sellers of books"];
    const { code, last } = await lab.json([...run(), "--yes", ...variables]);
    expect([code, last.outcome]).toEqual([0, "success"]);
    const pages = ["handbook/README.md", "handbook/architecture.md", "handbook/cart.md", "handbook/stock.md"];
    expect(last.outputFiles).toEqual(pages);
    expect(lab.git("show", `${last.branch}:handbook/README.md`)).toContain("Written for sellers of books.");
    expect(lab.git("ls-tree", "--name-only", last.branch!)).not.toContain("docs");
  });
});
