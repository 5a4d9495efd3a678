// `createQuestions` answers permission requests of a page, by the run's permissions or by asking the user. Fails
// closed: only an exact answer of the user permits. The bridge runs sessions of Claude, so the tools have the names of
// Claude Code.
import { realpathSync } from "node:fs";
import { recordOf } from "../../json-fields.ts";
import { shownInput, type Permission } from "./read-page.ts";
import type { EmitLine } from "./turn-watch.ts";
import { toToolRequest } from "../claude/tool-request.ts";
import { decidePermission } from "../../permission.ts";
import type { Permissions } from "../../../schema/permissions.ts";

const CHOICES = ["once", "always", "deny"];
/** Never `always`: permanent rules belong to the run's permissions. */
const RULED = { allow: "once", refuse: "deny" } as const;

interface Choice {
  requestId: string | number;
  choice: string;
}

export interface Questions {
  /** Asks new questions, withdraws obsolete ones, and returns the decisions of the run's permissions. */
  show(pending: readonly Permission[]): Choice[];
  /** Call `settle` when the page has received a decision of `show`. */
  settle(requestId: string | number): void;
  /** Null for an unknown question and for an answer that is none of the `CHOICES`. */
  answer(askId: string, text: string): Choice | null;
}

interface QuestionsOptions {
  cwd: string;
  permissions: Permissions;
  emit: EmitLine;
}

export function createQuestions({ cwd, permissions, emit }: QuestionsOptions): Questions {
  const workspace = realpathSync(cwd);
  /** By request; `isOpen` until it is answered. */
  const questions = new Map<string | number, { askId: string; question: string; isOpen: boolean }>();
  /** Requests decided by the run's permissions that the page still lists. */
  const settled = new Set<string | number>();
  let count = 0;

  function ask({ requestId, tool, input }: Permission, subject: string): void {
    const shown = shownInput(input);
    const question = `May the agent use ${tool}?${shown === "" ? "" : ` ${shown}`}`;
    const askId = `permission-${++count}`;
    questions.set(requestId, { askId, question, isOpen: true });
    const permission = { tool, subject: subject === "" ? shown : subject };
    emit({ type: "ask", id: askId, question, options: CHOICES, permission });
  }

  return {
    show(pending) {
      const ids = new Set(pending.map(({ requestId }) => requestId));
      for (const requestId of settled) if (!ids.has(requestId)) settled.delete(requestId);
      for (const [requestId, { askId, isOpen }] of questions) {
        if (ids.has(requestId)) continue;
        questions.delete(requestId);
        if (isOpen) emit({ type: "ask_cancelled", id: askId });
      }
      return pending.flatMap((each): Choice[] => {
        if (questions.has(each.requestId) || settled.has(each.requestId)) return [];
        const request = toToolRequest(each.tool, recordOf(each.input), workspace);
        const ruling = decidePermission(request, permissions, workspace);
        if (ruling !== "ask") return [{ requestId: each.requestId, choice: RULED[ruling] }];
        ask(each, request.subject);
        return [];
      });
    },
    settle: (requestId) => void settled.add(requestId),
    answer(askId, text) {
      const found = [...questions].find(([, each]) => each.askId === askId && each.isOpen);
      if (!found) return null;
      const [requestId, question] = found;
      const choice = text.trim().toLowerCase();
      if (CHOICES.includes(choice)) {
        question.isOpen = false;
        return { requestId, choice };
      }
      const hint = `${JSON.stringify(text.slice(0, 80))} is not an option. Answer with one of ${CHOICES.join(", ")}.`;
      emit({ type: "ask", id: askId, question: `${hint} ${question.question}`, options: CHOICES });
      return null;
    },
  };
}
