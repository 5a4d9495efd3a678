// The first phase on a session controller, from the request to the stored analysis and on to the plan.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModuleLab, until } from "./module-lab.ts";
import { block, FakeController, twoPages, type FakeAgent, type FakeSession } from "../session/fake-controller.ts";

let lab: ModuleLab;
beforeEach(() => {
  lab = new ModuleLab();
});
afterEach(() => lab.close());

const quick = { pollInterval: 20 };
const asksForAnalysis = (message: string): boolean => message.includes('End with the "analysis" block');
const ANALYSIS = {
  summary: "A small program in two parts.",
  recommended_splits: 2,
  key_files: ["README.md"],
  estimated_complexity: "low",
  components: [{ name: "core", description: "what it does" }],
  notes: "none",
  warnings: ["no tests"],
};

/** Answers the analysis with `answer`, and all other prompts correctly. */
const answering =
  (analysis: FakeAgent): FakeAgent =>
  (session, message) => {
    session.says = { isReady: true };
    return asksForAnalysis(message) ? analysis(session, message) : twoPages(session, message);
  };

describe("the analysis of a request", () => {
  it("is requested from a session with title and badge, and polled while the run is analyzing (D4-006..D4-011, D4-019)", async () => {
    let asked: FakeSession | null = null;
    const controller = new FakeController(answering((session) => ((asked = session), null)));
    const { orchestrators } = lab.managers(controller, quick);
    lab.template("guide", { name: "Guide" });
    const { id } = await orchestrators.create({ templateId: "guide", cwd: lab.repo, message: "Document the parser" });
    await orchestrators.start(id);
    await expect.poll(() => asked?.messages.length).toBe(1);
    expect(orchestrators.get(id)).toMatchObject({
      status: "analyzing",
      currentPhase: "analysis",
      templateId: "guide",
    });
    expect(asked!.title).toBe("[Orchestrator] Guide");
    const prompt = String(asked!.messages[0]!.content);
    expect(prompt.startsWith("🎭 **ORCHESTRATOR MODE** - Guide\n")).toBe(true);
    expect(prompt).toContain("Document the parser");
    expect(prompt).toContain("You are the main session of a run in Tutti.");
    expect(prompt).not.toMatch(/\{[A-Z_]+\}/);
    await expect.poll(() => controller.times("getTranscript", asked!.id).length).toBeGreaterThan(2);
    controller.say(asked!, "assistant", `Here it is.\n${block("analysis", ANALYSIS)}`);
    await until(orchestrators, id, "confirming");
  });

  it("is extracted from the answer, stored member by member, and followed by the planning (D4-013, D4-015..D4-017)", async () => {
    const controller = new FakeController(answering(() => `I looked.\n${block("analysis", ANALYSIS)}\nThat is all.`));
    const { orchestrators } = lab.managers(controller, quick);
    const phases: string[] = [];
    orchestrators.on("orchestrator:phaseChanged", ({ currentPhase }) => phases.push(currentPhase));
    const id = await lab.begin(orchestrators);
    const state = await until(orchestrators, id, "confirming");
    expect(state.analysis).toEqual({
      summary: ANALYSIS.summary,
      recommendedSplits: 2,
      keyFiles: ["README.md"],
      estimatedComplexity: "low",
      components: ANALYSIS.components,
      notes: "none",
      warnings: ["no tests"],
    });
    expect(phases).toEqual(["taskPlanning"]);
    expect(state.tasks.map((task) => task.id)).toEqual(["one", "two"]);
  });

  it("must be between the delimiters that the template sets; a block between others is ignored (D4-525)", async () => {
    const responseFormat = { type: "json", delimiterStart: "[[[ANSWER]]]", delimiterEnd: "[[[END]]]" };
    lab.template("marks", { prompts: { responseFormat } });
    const inOwn = (text: string): string =>
      text
        .replaceAll("<<<ORCHESTRATOR_RESPONSE>>>", responseFormat.delimiterStart)
        .replaceAll("<<<END_ORCHESTRATOR_RESPONSE>>>", responseFormat.delimiterEnd);
    const controller = new FakeController((session, message) => {
      session.says = { isReady: true };
      if (!asksForAnalysis(message)) return inOwn(twoPages(session, message)!);
      expect(message).toContain("[[[ANSWER]]]\n{");
      return `${inOwn(block("analysis", ANALYSIS))}\n${block("analysis", { ...ANALYSIS, summary: "elsewhere" })}`;
    });
    const { orchestrators } = lab.managers(controller, quick);
    const id = await lab.begin(orchestrators, { templateId: "marks" });
    expect((await until(orchestrators, id, "confirming")).analysis?.summary).toBe(ANALYSIS.summary);
  });

  it("without a required member is requested again, with the missing member (D4-014)", async () => {
    let times = 0;
    const prompts: string[] = [];
    const controller = new FakeController(
      answering((_, message) => {
        prompts.push(message);
        const { summary, recommended_splits } = ANALYSIS;
        return block("analysis", [{ recommended_splits }, { summary }, { summary, recommended_splits }][times++]!);
      }),
    );
    const { orchestrators } = lab.managers(controller, quick);
    const id = await lab.begin(orchestrators);
    await until(orchestrators, id, "confirming");
    expect(prompts).toHaveLength(3);
    expect(prompts[1]).toContain("summary");
    expect(prompts[2]).toContain("recommended_splits");
  });

  it("by agents of the session itself is rejected, and the session is informed (D4-020)", async () => {
    const prompts: string[] = [];
    const controller = new FakeController(
      answering((session, message) => {
        prompts.push(message);
        if (prompts.length > 1) return block("analysis", ANALYSIS);
        controller.say(session, "assistant", [
          { type: "tool_use", id: "1", name: "Task", input: { prompt: "look at everything" } },
          { type: "text", text: "I have sent somebody." },
        ]);
        return null;
      }),
    );
    const { orchestrators } = lab.managers(controller, quick);
    orchestrators.sharedEngine.configure({ settleMs: 100 });
    const id = await lab.begin(orchestrators);
    await until(orchestrators, id, "confirming");
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain("You started 1 of your own agents instead of answering");
    const problems = orchestrators.sharedEngine.engine
      .events({ run: id })
      .flatMap((event) => (event.type === "turn:ended" ? event.data.problems : []));
    expect(problems[0]).toContain("your own agents");
  });
});
