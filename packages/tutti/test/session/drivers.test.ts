import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import { findDriver } from "../../src/session/agents.ts";
import type { Decoded } from "../../src/session/driver.ts";
import { JsonLinesDecoder } from "../../src/session/drivers/json-lines.ts";
import { MAX_LINE } from "../../src/session/lines/line-splitter.ts";
import { globMatches, matchSession } from "../../src/session/drivers/script/match-session.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";
import { splitCommand } from "../../src/session/split-command.ts";

describe("A text: agent", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  it("gets the prompt on stdin, answers on stdout, and runs once per turn", async () => {
    const agent = lab.program(
      "text",
      "let all = ''; for await (const part of process.stdin) all += part; console.log(`${process.pid}:${all.toUpperCase()}`);",
    );
    const session = lab.host.open(lab.spec(agent));
    const first = await oneTurn(session, turn(1, "ask ä"));
    await session.deliver(turn(2, "ask again"));
    const all = await listen(session, (signal) => signal.type === "turnOver" && signal.turn === 2);
    expect(texts(first)).toMatch(/^\d+:ASK Ä\n$/);
    const pids = [...texts(all).matchAll(/^(\d+):/gm)].map(([, pid]) => pid);
    expect(new Set(pids).size).toBe(2);
    await session.close();
    expect(lab.processes()).toEqual([]);
  });
});

describe("An acp: agent", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  const keys = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"];
  const passed = (agent: string, more: NodeJS.ProcessEnv = {}) => {
    const { driver, rest } = findDriver(agent);
    const env = { ...Object.fromEntries(keys.map((key) => [key, "k"])), HTTPS_PROXY: "p", PATH: "/bin", ...more };
    return driver.launch(rest, lab.spec(agent), "/nowhere", env).passEnv!.toSorted();
  };

  it("gets the keys of its own provider, and an unknown program gets none", () => {
    expect(passed("acp:gemini --acp")).toEqual(["GEMINI_API_KEY", "GOOGLE_API_KEY", "HTTPS_PROXY"]);
    expect(passed("acp:npx @google/gemini-cli --acp")).toContain("GEMINI_API_KEY");
    expect(passed("acp:claude-agent-acp")).toEqual(["ANTHROPIC_API_KEY", "HTTPS_PROXY"]);
    expect(passed("acp:claude-agent-acp", { CLAUDE_CODE_USE_BEDROCK: "1" })).toContain("AWS_SECRET_ACCESS_KEY");
    expect(passed("acp:codex-acp")).toEqual(["HTTPS_PROXY", "OPENAI_API_KEY"]);
    expect(passed("acp:another --acp")).toEqual(["HTTPS_PROXY"]);
  });
});

describe("A command: agent", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  it("reports text, tools, usage and the end of its turn; unknown messages are other, and a line that is not JSON is text", async () => {
    const lines = [
      { type: "assistant", text: "par", partial: true },
      { type: "assistant", text: "whole" },
      { type: "tool", name: "Read", input: { path: "a" } },
      { type: "tool", id: "call-1", parent: "call-0", name: "Edit", input: {} },
      { type: "tool_failed", id: "call-1", error: "no such file" },
      { type: "tool_failed", error: "of no call" },
      { type: "invention", text: "ignored" },
      { type: "usage", inputTokens: 5, outputTokens: 2, usd: 0.5 },
      { type: "usage", inputTokens: -5, outputTokens: "many" },
    ];
    const agent = lab.program(
      "command",
      // In one write, so that a concurrent reader finds the whole line.
      `const all = [...${JSON.stringify(lines)}.map((line) => JSON.stringify(line)), "plain words", "[1,2]", '{"type":"turn_end"}', ""];
       process.stdin.once("data", () => process.stdout.write(all.join("\\n")));`,
    );
    const signals = (await oneTurn(lab.host.open(lab.spec(agent)))).filter(
      ({ type }) => type !== "ready" && type !== "caughtUp",
    );
    expect(signals).toEqual([
      { type: "sent", turn: 1 },
      { type: "partial", text: "par" },
      { type: "text", text: "whole", complete: true },
      { type: "tool", name: "Read", input: { path: "a" } },
      { type: "tool", id: "call-1", parent: "call-0", name: "Edit", input: {} },
      { type: "toolFailed", id: "call-1", error: "no such file" },
      { type: "other", message: { type: "tool_failed", error: "of no call" } },
      { type: "other", message: { type: "invention", text: "ignored" } },
      { type: "usage", usage: { inputTokens: 5, outputTokens: 2, usd: 0.5 } },
      { type: "usage", usage: { inputTokens: 0, outputTokens: 0, usd: 0 } },
      { type: "text", text: "plain words\n[1,2]\n", complete: false },
      { type: "text", text: "", complete: true },
      { type: "turnOver", turn: 1, ending: { kind: "ended", detail: "the turn ended" } },
    ]);
  });

  it("asks and receives the answer", async () => {
    const agent = lab.program(
      "command",
      `import { createInterface } from "node:readline";
       for await (const line of createInterface({ input: process.stdin })) {
         const message = JSON.parse(line);
         if (message.type === "user") console.log(JSON.stringify({ type: "ask", id: "q1", question: "Which?", options: ["a", "b"] }));
         if (message.type === "answer") { console.log(JSON.stringify({ type: "assistant", text: message.id + "=" + message.text })); console.log(JSON.stringify({ type: "turn_end" })); }
       }`,
    );
    const session = lab.host.open(lab.spec(agent));
    const signals = await listen(
      session,
      ({ type }) => type === "turnOver",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1));
        if (signal.type === "ask") for (let i = 0; i < 3; i++) await session.answer(signal.askId, "b");
      },
    );
    expect(signals).toContainEqual({ type: "ask", askId: "q1", question: "Which?", options: ["a", "b"] });
    expect(texts(signals)).toBe("q1=b");
    await session.stop();
  });

  it("may use one id for several questions", async () => {
    const agent = lab.program(
      "command",
      `import { createInterface } from "node:readline";
       let answers = 0;
       const ask = (question) => console.log(JSON.stringify({ type: "ask", id: "1", question }));
       for await (const line of createInterface({ input: process.stdin })) {
         const message = JSON.parse(line);
         if (message.type === "user") ask("first?");
         if (message.type === "answer") { console.log(JSON.stringify({ type: "assistant", text: message.id + "=" + message.text + ";" })); if (++answers === 1) ask("second?"); else console.log(JSON.stringify({ type: "turn_end" })); }
       }`,
    );
    const session = lab.host.open(lab.spec(agent));
    const signals = await listen(
      session,
      ({ type }) => type === "turnOver",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1));
        if (signal.type === "ask") await session.answer(signal.askId, signal.question);
      },
    );
    expect(texts(signals)).toBe("1=first?;1=second?;");
    const names = signals.flatMap((signal) => (signal.type === "ask" ? [signal.askId] : []));
    expect(new Set(names).size).toBe(2);
    await session.stop();
  });

  it("that writes `turn_end` while it is stopped has not ended its turn", async () => {
    const agent = lab.program(
      "command",
      `process.stdin.once("data", () => console.log(JSON.stringify({ type: "assistant", text: "at work" })));
       process.on("SIGTERM", () => { console.log(JSON.stringify({ type: "turn_end", error: "terminated" })); process.exit(143); });
       setInterval(() => {}, 1000);`,
    );
    const session = lab.host.open(lab.spec(agent));
    const signals = await listen(
      session,
      ({ type }) => type === "gone",
      async ({ type }) => {
        if (type === "ready") await session.deliver(turn(1));
        if (type === "text") void session.stop();
      },
    );
    expect(signals.map(({ type }) => type)).not.toContain("turnOver");
    expect(signals.at(-1)).toMatchObject({ type: "gone", deliberate: true });
  });

  it("gets its whole prompt in one line", async () => {
    const agent = lab.program(
      "command",
      `process.stdin.once("data", (data) => { console.log(JSON.stringify({ type: "assistant", text: String(data) })); console.log(JSON.stringify({ type: "turn_end" })); });`,
    );
    const signals = await oneTurn(lab.host.open(lab.spec(agent)), turn(1, "system\n\nuser \u2028 ä"));
    expect(JSON.parse(texts(signals))).toEqual({
      type: "user",
      id: "turn-1",
      text: "system\n\nuser \u2028 ä",
      phase: "workerExecution",
    });
  });
});

describe("The lines of an agent", () => {
  it("are decoded the same at any chunk size", () => {
    const line = fc.oneof(
      fc.record({ type: fc.constant("assistant"), text: fc.string({ unit: "grapheme" }) }),
      fc.record({ type: fc.constant("tool"), name: fc.string(), input: fc.jsonValue() }),
      fc.constant({ type: "turn_end" }),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
          const whole = new JsonLinesDecoder().push(bytes);
          const decoder = new JsonLinesDecoder();
          const cut = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = sizes[i % sizes.length]!;
            cut.push(...decoder.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(cut).toEqual(whole);
        },
      ),
    );
  });

  it("never make the decoder throw", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        const decoder = new JsonLinesDecoder();
        for (const chunk of chunks) decoder.push(chunk);
        decoder.flush();
      }),
    );
  });

  /** Decodes `start`, 20 million characters, and `end`. */
  function decodeLong(start: string, end: string, filling = "z"): Decoded[] {
    const decoder = new JsonLinesDecoder();
    decoder.push(Buffer.from(start));
    const million = Buffer.from(filling.repeat(1_000_000 / filling.length));
    for (let i = 0; i < 20; i++) expect(decoder.push(million)).toEqual([]);
    return decoder.push(Buffer.from(`${end}\n{"type":"turn_end"}\n`));
  }

  it("that are too long keep their beginning and their end, and the next line is decoded", () => {
    const [text, ...rest] = decodeLong("plain ", " words");
    expect(text).toMatchObject({ text: expect.stringMatching(/^plain z+ \[\d+ characters left out\] z+ words\n$/) });
    expect((text as { text: string }).text.length).toBeLessThan(MAX_LINE + 100);
    expect(rest).toEqual([
      { type: "text", text: "", complete: true },
      { type: "turnEnd", failure: null },
    ]);
  });

  it("that are too long stay messages without the middle of their long members", () => {
    const block = "<<<ORCHESTRATOR_RESPONSE>>>";
    const [said, end] = decodeLong('{"type":"assistant","text":"It is: ', `${block}","other":[1]}`);
    expect(said).toMatchObject({
      type: "text",
      text: expect.stringMatching(/^It is: z+ \[\d+ characters left out\] z+<<<ORCHESTRATOR_RESPONSE>>>$/),
      complete: true,
    });
    expect(end).toEqual({ type: "turnEnd", failure: null });
    const [tool] = decodeLong('{"type":"tool","name":"Write","input":{"content":"', '"}}');
    expect(tool).toMatchObject({ type: "tool", name: "Write", input: { content: expect.stringMatching(/^z+ \[/) } });
    expect(JSON.stringify(tool).length).toBeLessThan(600_000);
    expect(decodeLong('{"type":"tool","name":"Write","input":[', "1]}", "1,")[0]).toEqual({
      type: "text",
      text: "[a message of 20000042 characters was dropped]",
      complete: true,
    });
  });
});

describe("A script: agent", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  it("plays its turns in order and repeats the last one, with files, tools, usage, blocks and variables", async () => {
    const agent = lab.scenario([
      {
        match: { role: "worker", task: "task_*" },
        turns: [
          {
            say: "one for {TASK_ID}",
            tools: ["Read", "Edit"],
            write: { "docs/{TASK_ID}.md": "of {TASK_ID}" },
            usage: { inputTokens: 3, usd: 0.1 },
          },
          { block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "success" } }, chunkBytes: 7 },
        ],
      },
    ]);
    const session = lab.host.open(lab.spec(agent));
    const variables = { TASK_ID: "task_001", DELIMITER_START: "<<A>>", DELIMITER_END: "<<B>>" };
    const first = await oneTurn(session, turn(1, "", { variables }));
    expect(texts(first)).toBe("one for task_001");
    expect(first.filter(({ type }) => type === "tool")).toMatchObject([{ name: "Read" }, { name: "Edit" }]);
    expect(first).toContainEqual({ type: "usage", usage: { inputTokens: 3, outputTokens: 0, usd: 0.1 } });
    expect(readFileSync(join(lab.cwd, "docs/task_001.md"), "utf8")).toBe("of task_001");
    await session.deliver(turn(2, "", { variables }));
    await session.deliver(turn(3, "", { variables }));
    const all = await listen(session, (signal) => signal.type === "turnOver" && signal.turn === 3);
    const block =
      '<<A>>\n{\n  "phase": "completion",\n  "data": {\n    "task_id": "task_001",\n    "status": "success"\n  }\n}\n<<B>>';
    expect(texts(all)).toBe(`one for task_001${block}${block}`);
    await session.stop();
  });

  it("reads a prompt with Unicode line separators as one line", async () => {
    const session = lab.host.open(lab.spec(lab.scenario([{ turns: [{ say: "it is {WORDS}" }] }])));
    const variables = { WORDS: "one\u2028two\u2029three\u0085four" };
    expect(texts(await oneTurn(session, turn(1, variables.WORDS, { variables })))).toBe(`it is ${variables.WORDS}`);
    await session.stop();
  });

  it("crashes, exits, hangs and asks as the scenario says", async () => {
    const end = async (then: string) => {
      const session = lab.host.open(lab.spec(lab.scenario([{ turns: [{ say: "words", then }] }])));
      const signals = await oneTurn(session);
      await session.stop();
      return signals;
    };
    expect((await end("crash")).at(-1)).toMatchObject({
      ending: { kind: "exited", detail: expect.stringContaining("SIGKILL") },
    });
    expect((await end("exit:3")).at(-1)).toMatchObject({
      ending: { kind: "exited", detail: expect.stringContaining("exited with 3") },
    });
    expect((await end("end")).at(-1)).toMatchObject({ ending: { kind: "ended" } });
    const asking = lab.host.open(lab.spec(lab.scenario([{ turns: [{ then: "ask:Which one?" }] }])));
    const signals = await listen(
      asking,
      ({ type }) => type === "turnOver",
      async (signal) => {
        if (signal.type === "ready") await asking.deliver(turn(1));
        if (signal.type === "ask") await asking.answer(signal.askId, "this one");
      },
    );
    expect(texts(signals)).toBe("The answer was: this one");
    await asking.stop();
    const hanging = lab.host.open(lab.spec(lab.scenario([{ turns: [{ say: "words", then: "hang" }] }])));
    await listen(
      hanging,
      ({ type }) => type === "text",
      async ({ type }) => {
        if (type === "ready") await hanging.deliver(turn(1));
      },
    );
    await hanging.stop();
    expect(lab.processes()).toEqual([]);
  });

  it("matches a role of any name", async () => {
    const agent = lab.scenario([
      { match: { role: "worker" }, turns: [{ say: "work" }] },
      { match: { role: "reviewer" }, turns: [{ say: "a look at it" }] },
    ]);
    const session = lab.host.open(lab.spec(agent, { role: "reviewer" }));
    expect(texts(await oneTurn(session))).toBe("a look at it");
    await session.stop();
  });

  it("writes nothing outside its workspace", async () => {
    const session = lab.host.open(lab.spec(lab.scenario([{ turns: [{ write: { "../escaped.txt": "x" } }] }])));
    expect((await oneTurn(session)).at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "exited" } });
    expect(() => readFileSync(join(lab.folder, "escaped.txt"))).toThrow();
  });

  it("plays the first matching session; a missing field matches anything, and a task may be a glob", () => {
    const scenario = Scenario.parse({
      sessions: [
        { match: { role: "worker", task: "task_00?", attempt: 1 }, turns: [{}] },
        { match: { role: "main", phase: "task_list" }, turns: [{}] },
        { match: { role: "main" }, turns: [{}] },
        { turns: [{}] },
      ],
    });
    const match = (role: string, task: string | null, attempt: number, phase: string) =>
      matchSession(scenario, { role, task, attempt, phase });
    expect(match("worker", "task_001", 1, "workerExecution")).toBe(0);
    expect(match("worker", "task_001", 2, "workerExecution")).toBe(3);
    expect(match("main", null, 1, "taskPlanning")).toBe(1);
    expect(match("main", null, 1, "analysis")).toBe(2);
    expect(globMatches("*a*b", "xxaxxab")).toBe(true);
    expect(globMatches("*".repeat(40) + "x", "a".repeat(5000))).toBe(false);
  });

  it("with a missing or invalid scenario is rejected before a run is created", () => {
    const check = (text: string) => () => lab.host.check(text, lab.cwd);
    expect(check("script:/nowhere.json")).toThrow(expect.objectContaining({ code: "agent_not_startable" }));
    expect(check(lab.scenario([{ turns: [{ then: "explode" }] }]))).toThrow(
      expect.objectContaining({ code: "invalid_scenario", message: expect.stringContaining("exit:CODE") }),
    );
    expect(check(lab.scenario([{ turns: [{ sya: "typo" }] }]))).toThrow(
      expect.objectContaining({ code: "invalid_scenario" }),
    );
  });
});

describe("The name of an agent", () => {
  it("is rejected if it is unknown or names no program", () => {
    for (const name of ["nobody", "nope:x", "command", "__proto__:x", "constructor:x"]) {
      expect(() => findDriver(name)).toThrow(expect.objectContaining({ code: "agent_unknown" }));
    }
    const { driver, rest } = findDriver("command:  ");
    expect(() => driver.check(rest, "/")).toThrow(expect.objectContaining({ code: "agent_unknown" }));
    const missing = findDriver("text:no-such-program-anywhere --flag");
    expect(() => missing.driver.check(missing.rest, "/")).toThrow(
      expect.objectContaining({ code: "agent_not_startable" }),
    );
  });

  it("is split into words like in a POSIX shell, without expansion", () => {
    expect(splitCommand(`a 'b c' "d \\"e\\" $HOME" f\\ g '' x"y"z *.ts`)).toEqual([
      "a",
      "b c",
      'd "e" $HOME',
      "f g",
      "",
      "xyz",
      "*.ts",
    ]);
    expect(splitCommand('"a\\nb"')).toEqual(["a\\nb"]);
    for (const open of ["'a", '"a', "a\\"])
      expect(() => splitCommand(open)).toThrow(expect.objectContaining({ code: "agent_unknown" }));
  });
});
