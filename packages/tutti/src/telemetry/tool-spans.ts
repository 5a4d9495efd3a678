// `toolSpans` reads the tool calls of one turn from the session's transcript, which has the order of the calls but no
// times. A call gets the time of the first progress event that counted it (about one per second), or else the end of
// the turn. Durations are unknown, so the spans have none; the attribute `tutti.time` names the source of the time.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TracedTurn } from "./run-trace.ts";
import { spanIdOf, type Span } from "./span.ts";
import type { Engine } from "../engine/engine.ts";

const PAGE = 500;
/** `PAGE_CHARACTERS` limits a page, because reading it blocks the event loop. */
const PAGE_CHARACTERS = 1_000_000;
/** Per turn. */
const MAX_TOOLS = 1000;

interface ToolsOfTurn {
  spans: Span[];
  /** Number of the last transcript entry that `toolSpans` read. The next turn starts after it. */
  last: number;
}

export async function toolSpans(
  engine: Pick<Engine, "transcript">,
  run: string,
  { span: turnSpan, turn }: { span: Span; turn: TracedTurn },
  after: number,
): Promise<ToolsOfTurn> {
  const names: string[] = [];
  let last = after;
  let inTurn = false;
  for (;;) {
    const page = await engine.transcript(run, turn.sessionId, {
      after: last,
      limit: PAGE,
      characters: PAGE_CHARACTERS,
    });
    for (const entry of page) {
      last = entry.n;
      if (entry.type === "prompt") inTurn = entry.turn === turn.number;
      if (entry.type === "tool" && inTurn && names.length < MAX_TOOLS) names.push(entry.name);
      if (entry.type === "turnOver" && entry.turn === turn.number) return { spans: names.map(spanOf), last };
    }
    if (page.length === 0) return { spans: names.map(spanOf), last };
    await nextTurn();
  }

  function spanOf(name: string, index: number): Span {
    const progress = turn.tools.find(({ total }) => total > index);
    const at = Math.min(turnSpan.endMs, Math.max(turnSpan.startMs, progress?.at ?? turnSpan.endMs));
    return {
      traceId: turnSpan.traceId,
      spanId: spanIdOf(run, "tool", turn.sessionId, turn.number, index),
      parentId: turnSpan.spanId,
      name: `execute_tool ${name}`,
      kind: "internal",
      startMs: at,
      endMs: at,
      attributes: {
        "tutti.run.id": run,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.conversation.id": turn.sessionId,
        "tutti.time": progress ? "progress" : "end of turn",
      },
      error: null,
    };
  }
}
