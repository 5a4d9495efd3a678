// The program behind `script:`: plays the turns of a scenario in its workspace, with the JSON lines of `command:`
// agents. It is a real process, so a crash, a hang or an exit in the scenario is real too.
import { existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../../lines/line-splitter.ts";
import { SERVER_NAME } from "../../tools/own-tool.ts";
import { callTool } from "./call-tool.ts";
import { blockText, fill } from "./fill-turn.ts";
import { matchSession } from "./match-session.ts";
import { readFailure } from "./read-failure.ts";
import type { Scenario, ScenarioTurn } from "./scenario.ts";

/** `FOR_EVER_MS` is the longest delay of a timer. */
const FOR_EVER_MS = 2 ** 31 - 1;
const FILE_POLL_MS = 20;
const MAILBOX = process.env["TUTTI_MAILBOX"];

interface UserLine {
  phase?: string;
  variables?: Record<string, string>;
}

const scenario = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Scenario;
/** Maps a session entry to its number of finished turns. An interrupted turn is played again. */
const finishedTurns = new Map<number, number>();
const answers = new Map<string, (text: string) => void>();
/** `prompts` has one entry per open prompt, the oldest first. */
const prompts: AbortController[] = [];
let askCount = 0;

/** `writeSync`, so that output before a crash is not lost. */
function write(text: string, chunkBytes?: number): void {
  const bytes = Buffer.from(text);
  const size = chunkBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) writeSync(1, bytes, at, Math.min(size, bytes.length - at));
}

const send = (message: object, chunkBytes?: number): void =>
  write(`${JSON.stringify({ ...message, at: new Date().toISOString() })}\n`, chunkBytes);

interface NextTurn {
  turn: ScenarioTurn;
  finish(): void;
}

function nextTurn(phase: string): NextTurn | { fault: string } {
  const where = {
    role: process.env["TUTTI_ROLE"] ?? "",
    teamRole: process.env["TUTTI_TEAM_ROLE"],
    task: process.env["TUTTI_TASK_ID"] ?? null,
    attempt: Number(process.env["TUTTI_ATTEMPT"] ?? 1),
    phase,
  };
  const index = matchSession(scenario, where);
  if (index < 0) return { fault: `the scenario has no session for ${JSON.stringify(where)}` };
  const turns = scenario.sessions[index]!.turns;
  const count = finishedTurns.get(index) ?? 0;
  return { turn: turns[Math.min(count, turns.length - 1)]!, finish: () => finishedTurns.set(index, count + 1) };
}

async function play(line: UserLine, interrupt: AbortSignal): Promise<void> {
  const next = nextTurn(line.phase ?? "");
  if ("fault" in next) return send({ type: "turn_end", error: next.fault });
  try {
    const variables = { ...line.variables, ...(MAILBOX === undefined ? {} : { TUTTI_MAILBOX: MAILBOX }) };
    await act(fill(next.turn, variables), variables, interrupt);
    next.finish();
  } catch (error) {
    if (!interrupt.aborted) throw error;
  }
  const failure = interrupt.aborted ? null : readFailure(next.turn.then ?? "end", Date.now());
  const { detail: error, ...cause } = failure ?? {};
  send({ type: "turn_end", ...(error === undefined ? {} : { error, ...cause }) });
}

/** Rejects on an `interrupt`, without the remaining steps. */
async function act(turn: ScenarioTurn, variables: Record<string, string>, interrupt: AbortSignal): Promise<void> {
  await sleep(turn.delayMs ?? 0, undefined, { signal: interrupt });
  while (turn.waitForFile !== undefined && !existsSync(turn.waitForFile))
    await sleep(FILE_POLL_MS, undefined, { signal: interrupt });
  for (const name of turn.tools ?? []) send({ type: "tool", name, input: {} });
  for (const [file, content] of Object.entries(turn.write ?? {})) writeInWorkspace(file, content);
  for (const [index, call] of (turn.calls ?? []).entries()) await useTool(`call-${index + 1}`, call, interrupt);
  const text = [turn.say, turn.block && blockText(turn.block, variables)]
    .filter((part) => part !== undefined)
    .join("\n\n");
  if (text !== "") send({ type: "assistant", text }, turn.chunkBytes);
  if (turn.usage) send({ type: "usage", ...turn.usage });
  await end(turn.then ?? "end", interrupt);
}

async function useTool(id: string, call: NonNullable<ScenarioTurn["calls"]>[number], interrupt: AbortSignal) {
  send({ type: "tool", id, name: `mcp__${SERVER_NAME}__${call.tool}`, input: call.with });
  const { text, isError } = await callTool(call.tool, call.with, interrupt);
  send(isError ? { type: "tool_failed", id, error: text } : { type: "tool_result", id, text });
}

function writeInWorkspace(file: string, content: string): void {
  const path = resolve(file);
  const isIn = (folder: string): boolean => {
    const inside = relative(folder, path);
    return !isAbsolute(inside) && !inside.startsWith("..");
  };
  if (!isIn(process.cwd()) && (MAILBOX === undefined || !isIn(MAILBOX)))
    throw new Error(`the scenario writes outside the workspace: ${file}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function end(then: string, interrupt: AbortSignal): Promise<void> {
  if (then === "crash") process.kill(process.pid, "SIGKILL");
  if (then === "hang") await sleep(FOR_EVER_MS, undefined, { signal: interrupt });
  if (then.startsWith("exit:")) process.exit(Number(then.slice(5)));
  if (then.startsWith("ask:")) await ask(then.slice(4), interrupt);
}

async function ask(question: string, interrupt: AbortSignal): Promise<void> {
  const id = `ask-${++askCount}`;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  answers.set(id, resolve);
  interrupt.addEventListener("abort", () => reject(new Error("interrupted")));
  send({ type: "ask", id, question });
  try {
    send({ type: "assistant", text: `The answer was: ${await promise}` });
  } finally {
    answers.delete(id);
  }
}

let turns: Promise<void> = Promise.resolve();

function enqueue(line: UserLine): void {
  const prompt = new AbortController();
  prompts.push(prompt);
  turns = turns.then(() => play(line, prompt.signal)).finally(() => prompts.shift());
}

async function serve(): Promise<void> {
  for await (const line of linesOf(process.stdin)) {
    const message = JSON.parse(line) as { type: string; id?: string; text?: string } & UserLine;
    if (message.type === "user") enqueue(message);
    if (message.type === "interrupt") prompts.find(({ signal }) => !signal.aborted)?.abort();
    if (message.type === "answer") answers.get(message.id ?? "")?.(message.text ?? "");
  }
  // After the end of stdin the program finishes its turns and exits. A turn that hangs keeps the process alive.
  await turns;
}

void serve();
