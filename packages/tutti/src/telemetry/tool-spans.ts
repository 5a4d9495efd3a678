// The tools that an agent used in one turn, from the transcript of its session. A transcript says which tools and in which
// order, not when: a call is placed where progress was told that first counted it (every second, about), else at the end
// of the turn. How long it took nobody has told, so the span has no length; `tutti.time` says where its time comes from.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TracedTurn } from "./run-trace.ts";
import { spanIdOf, type Span } from "./span.ts";
import type { Engine } from "../engine/engine.ts";

const PAGE = 500;
/** A page is read at once, and meanwhile nobody else is heard. */
const PAGE_CHARACTERS = 1_000_000;
/** More than that of one turn nobody looks at. */
const MAX_TOOLS = 1000;

export interface ToolsOfTurn {
  spans: Span[];
  /** The last entry of the transcript that was read; the next turn is after it. */
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
    const page = engine.transcript(run, turn.sessionId, { after: last, limit: PAGE, characters: PAGE_CHARACTERS });
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
    const told = turn.tools.find(({ total }) => total > index);
    const at = Math.min(turnSpan.endMs, Math.max(turnSpan.startMs, told?.at ?? turnSpan.endMs));
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
        "tutti.time": told ? "progress" : "end of turn",
      },
      error: null,
    };
  }
}
