// The program behind `cdp:`: one session of a page, with the JSON lines of `command:` agents.
//
// Invariants
// 1. Every prompt is answered with exactly one `turn_end`, also after an interrupt or a failure.
// 2. At its end the program archives the page's session, if the page supports it, and removes its binding from the
//    page.
import { readAddress } from "./address.ts";
import { recordOf } from "../../json-fields.ts";
import { PageSession } from "./page-session.ts";
import { linesOf } from "../../lines/line-splitter.ts";
import type { Turn } from "../../session.ts";
import type { Permissions } from "../../../schema/permissions.ts";

/** `GOODBYE_MS` is shorter than the two seconds between the keeper's SIGTERM and SIGKILL. */
const GOODBYE_MS = 1500;

const emit = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const session = new PageSession(readAddress(process.argv[2] ?? ""), {
  cwd: process.cwd(),
  taskId: process.env["TUTTI_TASK_ID"] ?? null,
  permissions: JSON.parse(process.argv[3]!) as Permissions,
  emit,
});
/** `prompts` has one entry per open prompt, the oldest first. */
const prompts: AbortController[] = [];
let turns: Promise<void> = Promise.resolve();

function enqueue(turn: Turn): void {
  const stop = new AbortController();
  prompts.push(stop);
  turns = turns.then(() => play(turn, stop.signal)).finally(() => prompts.shift());
}

async function play(turn: Turn, stop: AbortSignal): Promise<void> {
  try {
    if (!stop.aborted) await session.converse(turn, stop);
    emit({ type: "turn_end" });
  } catch (error) {
    emit({ type: "turn_end", error: (error as Error).message });
  }
}

function answer(askId: string, text: string): void {
  // The session still waits, so the user can answer in the page itself.
  session.answer(askId, text).catch((error: unknown) => {
    const notice = `[The answer did not reach the page: ${(error as Error).message}. Answer in the page.]`;
    emit({ type: "assistant", text: notice, partial: true });
  });
}

function receive(line: string): void {
  const message = recordOf(JSON.parse(line));
  if (message["type"] === "user") {
    const { text, phase, variables } = message as unknown as Turn;
    enqueue({ number: prompts.length + 1, text, phase, variables });
  }
  if (message["type"] === "interrupt") prompts.find(({ signal }) => !signal.aborted)?.abort();
  if (message["type"] === "answer") answer(String(message["id"]), String(message["text"]));
}

process.on("SIGTERM", () => {
  setTimeout(() => process.exit(0), GOODBYE_MS);
  void session.end(prompts.length > 0).finally(() => process.exit(0));
});
// Without a keeper no output can be written.
process.stdout.on("error", () => process.exit(0));

async function serve(): Promise<void> {
  for await (const line of linesOf(process.stdin)) receive(line);
  await turns;
  await session.end(false);
}

void serve();
