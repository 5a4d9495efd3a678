// Settings in `ui` of a run's template: its mark, the parts of a worker's card and the columns of the table of tasks.
import type { IconName } from "../parts/icon-shapes.ts";
import { compact, count, duration } from "../text/format.ts";
import { translate } from "../text/language.ts";
import type { Template } from "../../../tutti/src/schema/template.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";
import { workerTime } from "./clock.ts";

type Ui = Template["ui"];

/** Templates use the names of common icon sets. */
const ICONS: Record<string, IconName> = {
  layers: "layers",
  pen: "pen",
  book: "book",
  "book-open": "book",
  compass: "compass",
  users: "users",
  zap: "zap",
  hammer: "tool",
  "git-branch": "branch",
  shuffle: "shuffle",
  mail: "inbox",
  "check-circle": "check",
};

export const templateIcon = ({ icon }: Ui): IconName => (Object.hasOwn(ICONS, icon) ? ICONS[icon]! : "file");

const PARTS = ["action", "bar", "words", "tools"] as const;
type WorkerPart = (typeof PARTS)[number];

const PARTS_OF_STYLE: Record<Ui["progressStyle"], readonly WorkerPart[]> = {
  detailed: PARTS,
  compact: ["action", "bar"],
  simple: ["bar"],
  minimal: [],
};

/** The card also shows the name, the state and the percentage, whatever `progressStyle` is. */
export function workerParts({ progressStyle, showWorkerDetails, showProgressBar }: Ui): ReadonlySet<WorkerPart> {
  const parts = new Set(PARTS_OF_STYLE[progressStyle]);
  if (!showProgressBar) parts.delete("bar");
  if (showWorkerDetails) return parts;
  parts.delete("words");
  parts.delete("tools");
  return parts;
}

type ColumnName = Ui["workerColumns"][number];

/** `status` is not among `COLUMNS`: it comes first and has a mark instead of a text. */
const COLUMNS: Record<
  Exclude<ColumnName, "status">,
  { title: string; text: (worker: Worker, now: number) => string }
> = {
  progress: { title: translate("Progress"), text: ({ progress }) => `${progress} %` },
  tools: { title: translate("Tools"), text: ({ toolStats }) => count(toolStats.total) },
  time: {
    title: translate("Time"),
    text: (worker, now) => {
      const time = workerTime(worker, now);
      return time === null ? "" : duration(time);
    },
  },
  tokens: { title: translate("Tokens"), text: ({ usage }) => compact(usage.inputTokens + usage.outputTokens) },
  files: { title: translate("Files"), text: ({ outputFiles }) => count(outputFiles.length) },
};

export const showsStatus = ({ workerColumns }: Ui): boolean => workerColumns.includes("status");

export const columnsOf = ({ workerColumns }: Ui): (typeof COLUMNS)[keyof typeof COLUMNS][] =>
  [...new Set(workerColumns)].flatMap((name) => (name === "status" ? [] : [COLUMNS[name]]));
