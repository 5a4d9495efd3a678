// `initMailbox` creates the folders and files of a mailbox, like the program that document 001 describes. It keeps
// existing files.
import { basename, dirname } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { boxText } from "./box-content.ts";
import type { MailboxFolder } from "./folder.ts";
import { boxFile, DOCUMENT_BOXES, findLayouts, type MailboxLayout } from "./layout.ts";
import { fileVersion } from "./read-text.ts";
import { makeFolder, replaceFile } from "./replace-file.ts";

export interface InitReport {
  layout: MailboxLayout;
  made: string[];
  kept: string[];
}

export async function initMailbox(folder: MailboxFolder): Promise<InitReport> {
  const { wanted } = folder;
  const found = findLayouts(folder.project);
  if (wanted !== undefined && found.length > 0 && !found.includes(wanted))
    throw new TuttiError(
      "wrong_state",
      `${folder.project} already has a mailbox in the ${found.join(" and the ")} layout. Use that layout.`,
    );
  return folder.locked(() => {
    const report: InitReport = { layout: folder.layout(), made: [], kept: [] };
    for (const [path, text] of firstFiles(folder)) {
      const file = folder.inside(path);
      if (fileVersion(file) === "") {
        makeFolder(dirname(file));
        // Another program may have created it in the meantime.
        const isMade = replaceFile(file, text, () => fileVersion(file) === "");
        (isMade ? report.made : report.kept).push(file);
      } else report.kept.push(file);
    }
    return report;
  });
}

function firstFiles(folder: MailboxFolder): [path: string, text: string][] {
  const paths = folder.paths();
  const idle = { status: "idle", lastActivity: null };
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  return [
    [
      paths.config,
      json({
        project: { name: basename(folder.project), path: folder.project },
        scope: "",
        goals: [],
        platform: "custom",
        maxTasks: 10,
        continuous: false,
        initialized: true,
      }),
    ],
    [paths.queue, json({ version: "1.0", tasks: [], completed: [], current: null, lastUpdated: folder.now() })],
    [
      paths.status,
      json({
        orchestrator: { running: false, pid: null, startedAt: null },
        teamLead: idle,
        developer: { status: "idle", currentTask: null, lastActivity: null },
        lastCycle: null,
      }),
    ],
    ...DOCUMENT_BOXES.map((box): [string, string] => [boxFile(paths.messages, box), boxText([], {})]),
    [paths.log, "# Development log\n\n"],
  ];
}
