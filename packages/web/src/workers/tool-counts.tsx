import { translate } from "../text/language.ts";
import type { ToolStats } from "../../../tutti/src/schema/worker.ts";

const WORDS: [Exclude<keyof ToolStats, "total">, string][] = [
  ["reads", translate("read#tool")],
  ["edits", translate("edit#tool")],
  ["writes", translate("write#tool")],
  ["bash", translate("shell#tool")],
  ["search", translate("search#tool")],
  ["web", translate("web#tool")],
  ["task", translate("agent#tool")],
];

export function ToolCounts({ stats }: { stats: ToolStats }) {
  if (stats.total === 0) return null;
  const named = WORDS.filter(([kind]) => stats[kind] > 0);
  const other = stats.total - named.reduce((sum, [kind]) => sum + stats[kind], 0);
  return (
    <span className="tool-counts">
      {named.map(([kind, word]) => (
        <span key={kind} className="chip">
          {word} <b>{stats[kind]}</b>
        </span>
      ))}
      {other > 0 && (
        <span className="chip">
          {translate("other")} <b>{other}</b>
        </span>
      )}
    </span>
  );
}
