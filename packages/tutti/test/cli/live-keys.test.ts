import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { playUser } from "../lab/terminal.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

describe("keys in the live view", () => {
  it("answer, pause, resume, retry, message, show and cancel; a question keeps its line while events arrive", async () => {
    const [gate, second] = [lab.gate(), lab.gate("second")];
    const failed = { phase: "completion", data: { task_id: "bad", status: "failed", error: "no luck" } };
    const agent = lab.scenario([
      ...mainSession(["asks", "later", "bad", "slow"].map((id) => ({ id }))),
      worker("asks", { write: { "a.md": "a" }, then: "ask:Tabs or spaces?" }, { block: done({}) }),
      worker("later", { waitForFile: gate.file, write: { "b.md": "b" }, block: done({}) }),
      { match: { role: "worker", task: "bad", attempt: 1 }, turns: [{ waitForFile: second.file, block: failed }] },
      worker("slow", { then: "hang" }),
      goodWorker,
    ]);
    const args = ["--data-dir", lab.data, "run", "x", "--yes", "--cwd", lab.repo, "--agent", agent];
    const { code, shown } = await playUser(args, [
      ["asks asks: Tabs or spaces?", "\u001b"],
      ["Press a to answer it later.", "a"],
      ["asks asks: Tabs or spaces?", "tabz\u007f"],
      ["> tab", () => gate.open()],
      ["later completed", ""],
      ["> tab", "s\r"],
      ["asks completed", () => second.open()],
      ["Press r to retry bad, or a to decide.", "r"],
      ["bad is retried", ""],
      ["bad completed", "p"],
      ["the run is paused by the user", "p"],
      ["the run was resumed", "mslow: faster\r"],
      ["slow receives the message", "dnobody\r"],
      ['"nobody" is not one of these tasks', "dslow\r"],
      ["    Do slow", "o"],
      ["dashboard: http://127.0.0.1:", "?"],
      ["c  cancel the run for good", "cn"],
      ["Cancel the run for good? [y/n] n", "cy"],
    ]);
    expect(code).toBe(1);
    const events = lab.events();
    const dataOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(dataOf("message:sent")).toMatchObject([{ taskId: "slow", text: "faster" }]);
    expect(dataOf("inbox:answered")).toMatchObject([{ text: "approved" }, { text: "tabs" }, { withdrawn: true }]);
    expect(shown).toContain("p pause  m message  a answer  r retry  c cancel  d details  o open  ? help");
    expect(shown).not.toContain("ORCHESTRATOR_RESPONSE");
    expect(shown).not.toContain("did not complete: no luck");
    // The question is printed when it opens, and again by `a`.
    expect(shown.split("asks asks: Tabs or spaces?")).toHaveLength(3);
    expect((await lab.json(["list"])).last).toMatchObject([{ status: "cancelled" }]);
  });
});
