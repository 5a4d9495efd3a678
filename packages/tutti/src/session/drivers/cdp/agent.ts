// The program behind `cdp:`: one session of a page, spoken to in the lines of `command:` agents.
//
// Invariants
// 1. Every prompt is answered with exactly one turn_end, also after an interrupt and after a fault.
// 2. When this program ends, the page's session is put away where the page can do that, and nothing of ours stays behind
//    in the page.
import { readAddress } from "./address.ts";
import { asRecord } from "./devtools.ts";
import { PageSession } from "./page-session.ts";
import { linesOf } from "../../line-splitter.ts";
import type { Turn } from "../../session.ts";
import type { Permissions } from "../../../schema/permissions.ts";

/** After SIGTERM the keeper gives us two seconds. */
const GOODBYE_MS = 1500;

const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const session = new PageSession(readAddress(process.argv[2] ?? ""), {
  cwd: process.cwd(),
  taskId: process.env["TUTTI_TASK_ID"] ?? null,
  permissions: JSON.parse(process.argv[3]!) as Permissions,
  tell,
});
/** One for each prompt that is not answered yet, the oldest first. */
const prompts: AbortController[] = [];
let turns: Promise<void> = Promise.resolve();

function take(turn: Turn): void {
  const stop = new AbortController();
  prompts.push(stop);
  turns = turns.then(() => play(turn, stop.signal)).finally(() => prompts.shift());
}

async function play(turn: Turn, stop: AbortSignal): Promise<void> {
  try {
    if (!stop.aborted) await session.converse(turn, stop);
    tell({ type: "turn_end" });
  } catch (error) {
    tell({ type: "turn_end", error: (error as Error).message });
  }
}

function answer(askId: string, text: string): void {
  // The session still waits, so the person is told and can answer in the page itself.
  session.answer(askId, text).catch((error: unknown) => {
    const words = `[the answer did not reach the page: ${(error as Error).message}]`;
    tell({ type: "assistant", text: words, partial: true });
  });
}

/** The engine wrote these lines, so they have their members. */
function hear(line: string): void {
  const message = asRecord(JSON.parse(line));
  if (message["type"] === "user") {
    const { text, phase, variables } = message as unknown as Turn;
    take({ number: prompts.length + 1, text, phase, variables });
  }
  if (message["type"] === "interrupt") prompts.find(({ signal }) => !signal.aborted)?.abort();
  if (message["type"] === "answer") answer(String(message["id"]), String(message["text"]));
}

process.on("SIGTERM", () => {
  setTimeout(() => process.exit(0), GOODBYE_MS);
  void session.end(prompts.length > 0).finally(() => process.exit(0));
});
// A keeper that has gone can no longer be told anything.
process.stdout.on("error", () => process.exit(0));

for await (const line of linesOf(process.stdin)) hear(line);
// End of file on stdin means: finish and exit.
await turns;
await session.end(false);
