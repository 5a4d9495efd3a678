import { spawn } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { BRIDGE, steps } from "./cdp-bridge.ts";
import { DebuggedBrowser } from "./cdp-lab.ts";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import { HEADLESS_BROWSER } from "../web/browser.ts";
import { findOrInstall, skipWithout } from "../lab/required-program.ts";
import { findDriver } from "../../src/session/agents.ts";
import { readAddress } from "../../src/session/drivers/cdp/address.ts";
import type { Session, SessionSignal, Turn } from "../../src/session/session.ts";

const variables = { DELIMITER_START: "<<A>>", DELIMITER_END: "<<B>>", TASK_TITLE: "The API" };
const prompt = (number: number, text: string, more: Partial<Turn> = {}): Turn =>
  turn(number, text, { variables, ...more });
const block = '<<A>>{"phase": "completion", "data": {"task_id": "task_001", "status": "success"}}<<B>>';
const isOver = (number: number) => (signal: SessionSignal) => signal.type === "turnOver" && signal.turn === number;

describe("A cdp: agent", () => {
  let browser: DebuggedBrowser | null = null;
  let lab: SessionLab;
  beforeAll(async () => {
    const executable = findOrInstall(HEADLESS_BROWSER);
    if (executable !== null) browser = await DebuggedBrowser.start(executable);
  });
  afterAll(() => browser?.stop());
  beforeEach(() => {
    lab = new SessionLab({ graceMs: 5000 });
  });
  afterEach(() => lab.tearDown());

  const inBrowser = (act: (browser: DebuggedBrowser) => Promise<void>) => async (context: TestContext) => {
    if (browser !== null) return act(browser);
    return skipWithout(HEADLESS_BROWSER, context);
  };

  /** The signals of the agent, without those of every session. */
  const agentSignals = (signals: SessionSignal[]) =>
    signals.filter(({ type }) => type === "text" || type === "tool" || type === "usage" || type === "turnOver");
  const open = (agent: string): Session => lab.host.open(lab.spec(agent));

  it(
    "is one session of the page: started with the first prompt, continued with the next ones, archived at the end",
    inBrowser(async (browser) => {
      const page = await browser.open();
      const session = open(page.agent);
      const first = steps(["tool", "Read", { path: "a" }], ["say", "words äé\u2028"], ["usage", 7, 3]);
      const signals = await oneTurn(session, prompt(1, first));
      expect(agentSignals(signals)).toEqual([
        { type: "tool", name: "Read", input: { path: "a" } },
        { type: "text", text: "words äé\u2028", complete: true },
        { type: "text", text: "a", complete: true },
        { type: "text", text: "b", complete: true },
        { type: "usage", usage: { inputTokens: 7, outputTokens: 3, usd: 0 } },
        { type: "turnOver", turn: 1, ending: { kind: "ended", detail: "the turn ended" } },
      ]);
      await session.deliver(prompt(2, steps(["say", "more"], ["usage", 5, 1])));
      const all = agentSignals(await listen(session, isOver(2))).slice(agentSignals(signals).length);
      expect(texts(all)).toBe("moreab");
      expect(all).toContainEqual({ type: "usage", usage: { inputTokens: 5, outputTokens: 1, usd: 0 } });
      expect(await page.evaluate("listening()")).toBe(1);
      await session.close();
      const [started, sent, archived] = await page.calls();
      expect(started).toEqual([
        "startNewSessionWithMessage",
        lab.cwd,
        first,
        { title: "[Worker] The API", useWorktree: false },
      ]);
      expect(sent).toEqual(["sendMessage", "local_1", expect.stringContaining("more")]);
      expect(archived).toEqual(["archiveSession", "local_1"]);
      expect(await page.evaluate("listening()")).toBe(0);
      expect(await page.evaluate("Object.keys(globalThis).filter((name) => /^tutti/.test(name))")).toEqual([]);
      expect(lab.processes()).toEqual([]);
    }),
  );

  it(
    "asks the user for permissions and permits nothing without an exact answer",
    inBrowser(async (browser) => {
      const page = await browser.open({ bridge: "desktop" });
      const session = open(page.agent);
      const answers = ["yes, why not", "always", "deny"];
      const signals = await listen(session, isOver(1), async (signal) => {
        if (signal.type === "ready")
          await session.deliver(prompt(1, steps(["ask", "Bash", { command: "rm x" }], ["ask", "Edit", {}])));
        if (signal.type === "ask") await session.answer(signal.askId, answers.shift()!);
      });
      expect(signals.filter(({ type }) => type === "ask")).toMatchObject([
        { question: 'May the agent use Bash? {"command":"rm x"}', options: ["once", "always", "deny"] },
        {
          question: expect.stringContaining(
            '"yes, why not" is not an option. Answer with one of once, always, deny. May the agent use Bash?',
          ),
        },
        { question: "May the agent use Edit? {}" },
      ]);
      expect(texts(signals)).toBe("the answer was alwaysthe answer was deny");
      const calls = await page.calls();
      expect(calls.map(([name]) => name)).toEqual(["start", "respondToToolPermission", "respondToToolPermission"]);
      expect(calls[0]![1]).toMatchObject({ cwd: lab.cwd, title: "[Worker] The API", useWorktree: false });
      await session.stop();
    }),
  );

  it(
    "gets its permissions from the run where they decide, and from the user otherwise",
    inBrowser(async (browser) => {
      const page = await browser.open({ bridge: "desktop" });
      const permissions = { mode: "edits" as const, allow: ["Bash(npm test*)"], refuse: ["Bash(rm *)"] };
      const session = lab.host.open(lab.spec(page.agent, { permissions }));
      const wishes = steps(
        ["ask", "Bash", { command: "npm test -- a" }],
        ["ask", "Bash", { command: "rm -r x" }],
        ["ask", "Edit", { file_path: join(lab.cwd, "a.md") }],
        ["ask", "Edit", { file_path: join(lab.folder, "b.md") }],
      );
      const asked: (object | undefined)[] = [];
      const signals = await listen(session, isOver(1), async (signal) => {
        if (signal.type === "ready") await session.deliver(prompt(1, wishes));
        if (signal.type !== "ask") return;
        asked.push(signal.permission);
        await session.answer(signal.askId, "deny");
      });
      expect(asked).toEqual([{ tool: "Edit", subject: join(realpathSync(lab.folder), "b.md") }]);
      expect(texts(signals)).toBe(
        ["once", "deny", "once", "deny"].map((choice) => `the answer was ${choice}`).join(""),
      );
      const calls = (await page.calls()).filter(([name]) => name === "respondToToolPermission");
      expect(calls.map(([, , choice]) => choice)).toEqual(["once", "deny", "once", "deny"]);
      await session.stop();
    }),
  );

  it(
    "stops an interrupted turn and continues with the next one; stopping the agent ends the page's session",
    inBrowser(async (browser) => {
      const page = await browser.open({ bridge: "desktop" });
      const session = open(page.agent);
      const signals = await listen(session, isOver(1), async (signal) => {
        if (signal.type === "ready")
          await session.deliver(prompt(1, steps(["say", "one"], ["tool", "Bash", {}], ["hang"])));
        if (signal.type === "tool") await session.interrupt(1);
      });
      expect(signals.at(-1)).toMatchObject({ ending: { kind: "interrupted" } });
      await session.deliver(prompt(2, steps(["say", "two"], ["tool", "Bash", {}], ["hang"])));
      const all = await listen(session, (signal) => texts([signal]) === "two");
      expect(texts(all)).toBe("onetwo");
      await session.stop();
      const names = (await page.calls()).map(([name]) => name);
      expect(names.slice(0, 4)).toEqual(["start", "interrupt", "sendMessage", "interrupt"]);
      expect(names.at(-1)).toBe("archive");
      expect(await page.evaluate("listening()")).toBe(0);
    }),
  );

  it(
    "needs neither events nor a state: the expected block ends the turn",
    inBrowser(async (browser) => {
      const page = await browser.open({ bridge: "window", without: "onEvent,getSession,listSessions,archiveSession" });
      const session = open(page.agent);
      const signals = await oneTurn(session, prompt(1, steps(["say", "first"], ["say", block])));
      expect(texts(signals)).toBe(`first${block}`);
      expect(signals.at(-1)).toMatchObject({ ending: { kind: "ended" } });
      await session.close();
    }),
  );

  it(
    "passes on only assistant messages, with bounded length, whatever the transcript contains",
    inBrowser(async (browser) => {
      const page = await browser.open();
      const session = open(page.agent);
      const deep = JSON.parse(`${"[".repeat(3000)}${"]".repeat(3000)}`) as unknown;
      const raw = [
        null,
        5,
        "<<A>>text<<B>>",
        [],
        { role: "user", content: block },
        { type: "system", message: { content: [{ type: "text", text: block }] } },
        { role: 7, content: block },
        { role: "assistant", content: { text: 9 } },
        { role: "assistant", content: [{ type: "text", text: 9 }, null, { type: "tool_use", name: {} }] },
        { role: "assistant", content: [{ type: "tool_use", name: "n".repeat(1000), input: deep }] },
        { role: "assistant", content: [{ type: "tool_use", name: "Write", input: { text: "y".repeat(100_000) } }] },
        { role: "assistant", content: "", usage: { input_tokens: -5, output_tokens: "many" } },
      ];
      const asked = steps(
        ...raw.map((entry): ["raw", unknown] => ["raw", entry]),
        ["repeat", 3_000_000],
        ["say", "end"],
      );
      const signals = await oneTurn(session, prompt(1, `${block}\n${asked}`));
      const words = texts(signals);
      expect(words).not.toContain("<<A>>");
      expect(words).toMatch(/^\[the first 902848 characters were omitted\]\nz+end$/);
      expect(words.length).toBeLessThan(2_200_000);
      const tools = signals.flatMap((signal) => (signal.type === "tool" ? [signal] : []));
      expect(tools.map(({ name }) => name)).toEqual(["n".repeat(200), "Write"]);
      expect(tools[1]!.input).toEqual({ tooLong: expect.stringMatching(/^\{"text":"y+$/) });
      expect(signals.some(({ type }) => type === "usage")).toBe(false);
      expect(signals.at(-1)).toMatchObject({ ending: { kind: "ended" } });
      await session.stop();
    }),
  );

  it(
    "fails with the missing method, or because there is no bridge or several",
    inBrowser(async (browser) => {
      const end = async (agent: string) => {
        const session = open(agent);
        const signals = await oneTurn(session, prompt(1, steps(["say", "x"])));
        await session.stop();
        return signals.at(-1);
      };
      const failed = (detail: string) => ({
        type: "turnOver",
        ending: { kind: "error", detail: expect.stringContaining(detail) as string },
      });
      const plain = await browser.open({});
      expect(await end(plain.agent)).toMatchObject(failed("exposes the session bridge (startNewSessionWithMessage"));
      const half = await browser.open({ bridge: "window", without: "getTranscript" });
      expect(await end(half.agent)).toMatchObject(failed("lacks getTranscript"));
      await half.close();
      const mute = await browser.open({ bridge: "window", without: "respondToToolPermission" });
      const session = open(mute.agent);
      const asking = await oneTurn(session, prompt(1, steps(["ask", "Bash", {}])));
      expect(asking.at(-1)).toMatchObject(
        failed("permission to use Bash, but the page has no respondToToolPermission"),
      );
      await session.stop();
      expect((await mute.calls()).map(([name]) => name)).toContain("interruptSession");
      await browser.open();
      expect(await end(`cdp:${browser.address}#-end`)).toMatchObject(failed("several pages expose the session bridge"));
      expect(await end(`cdp:${browser.address}#nowhere`)).toMatchObject(failed("has no page at"));
      expect(await end("cdp:http://127.0.0.1:1")).toMatchObject(failed("no debugger answers at 127.0.0.1:1"));
    }),
  );

  it(
    "fails its turn when the page is closed, crashes or returns no transcript, and accepts another turn",
    inBrowser(async (browser) => {
      const dies = async (die: "close" | "crash", says: string): Promise<void> => {
        const page = await browser.open();
        const session = open(page.agent);
        const signals = await listen(session, isOver(1), async (signal) => {
          if (signal.type === "ready")
            await session.deliver(prompt(1, steps(["say", "at work"], ["tool", "Bash", {}], ["hang"])));
          if (signal.type === "text") await page[die]();
        });
        expect(signals.at(-1), die).toMatchObject({ ending: { kind: "error", detail: expect.stringContaining(says) } });
        expect(texts(signals)).toBe("at work");
        await session.stop();
      };
      const fallsSilent = async (): Promise<void> => {
        const page = await browser.open();
        const session = open(page.agent);
        await page.evaluate("window.real = getTranscript, window.getTranscript = async () => ({ messages: 'none' })");
        const signals = await oneTurn(session, prompt(1, steps(["say", "unread"])));
        const ending = { kind: "error", detail: expect.stringContaining("no list of messages") };
        expect(signals.at(-1)).toMatchObject({ ending });
        await page.evaluate("window.getTranscript = window.real");
        await session.deliver(prompt(2, steps(["say", "again"])));
        expect(texts(await listen(session, isOver(2)))).toBe("again");
        await session.stop();
      };
      // In parallel, because each case waits for the page to return.
      const fates = [dies("close", "the debugger has no page"), dies("crash", "the page crashed"), fallsSilent()];
      await Promise.all(fates);
    }),
  );
});

describe("A cdp: agent behind the debugger of an Electron application's main process", () => {
  it("reaches the page through that process", async () => {
    const lab = new SessionLab({ graceMs: 5000 });
    // A stub of the application: a program with an inspector, and a page that evaluates code.
    const electron = join(lab.folder, "node_modules/electron");
    mkdirSync(electron, { recursive: true });
    writeFileSync(
      join(electron, "index.js"),
      `const vm = require("node:vm");
       const page = vm.createContext({ setTimeout });
       vm.runInContext(${JSON.stringify(`(${BRIDGE})({ bridge: "desktop" })`)}, page);
       const contents = { id: 4, isDestroyed: () => false, getTitle: () => "The App", getURL: () => "app://main",
         executeJavaScript: async (code) => vm.runInContext(code, page) };
       exports.webContents = { getAllWebContents: () => [contents], fromId: (id) => (id === 4 ? contents : null) };`,
    );
    writeFileSync(
      join(lab.folder, "app.cjs"),
      `Object.defineProperty(process.versions, "electron", { value: "1" }); require("electron"); setInterval(() => {}, 1000);`,
    );
    const app = spawn(process.execPath, ["--inspect=127.0.0.1:0", join(lab.folder, "app.cjs")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      const socket = await new Promise<string>((found) => {
        let said = "";
        app.stderr.on("data", (data) => {
          said += String(data);
          const [, url] = /(ws:\S+)/.exec(said) ?? [];
          if (url) found(url);
        });
      });
      const session = lab.host.open(lab.spec(`cdp:http://${new URL(socket).host}#the app`));
      const text = `quote " \` \${x} \u2028 ${steps(["tool", "Read", {}], ["say", "from the app"])}`;
      const signals = await oneTurn(session, prompt(1, text));
      expect(texts(signals)).toBe("from the app");
      expect(signals.at(-1)).toMatchObject({ ending: { kind: "ended" } });
      await session.close();
      const other = lab.host.open(lab.spec(`cdp:${socket}#another app`));
      const refused = await oneTurn(other, prompt(1, text));
      expect(refused.at(-1)).toMatchObject({ ending: { kind: "error", detail: expect.stringContaining("no page") } });
      await other.stop();
    } finally {
      app.kill("SIGKILL");
      lab.tearDown();
    }
  });
});

describe("The address of a debugger", () => {
  it("names a local host, and one target or a part of a page's title", () => {
    expect(readAddress("http://127.0.0.1:9222")).toEqual({ host: "127.0.0.1:9222", target: null, page: "" });
    expect(readAddress("http://localhost:9222/#My page 100%")).toEqual({
      host: "localhost:9222",
      target: null,
      page: "My page 100%",
    });
    expect(readAddress("ws://[::1]:9229/devtools/page/A1")).toEqual({
      host: "[::1]:9229",
      target: "/devtools/page/A1",
      page: "",
    });
    expect(readAddress("http://0x7f.1:9222").host).toBe("127.0.0.1:9222");
  });

  it("is rejected if it is invalid or on another machine", () => {
    const { driver } = findDriver("cdp:x");
    for (const rest of [
      "http://example.org:9222",
      "ws://10.0.0.7:9222/x",
      "http://127.0.0.1.example.org",
      "ws://[::2]:1",
    ])
      expect(() => driver.check(rest, "/"), rest).toThrow(
        expect.objectContaining({ code: "agent_not_startable", message: expect.stringContaining("on this machine") }),
      );
    for (const rest of [
      "",
      "9222",
      "https://127.0.0.1:9222",
      "file:///x",
      "http://127.0.0.1:3000/app",
      "http://a:b@127.0.0.1:1",
    ])
      expect(() => driver.check(rest, "/"), rest).toThrow(expect.objectContaining({ code: "agent_unknown" }));
  });
});
