// Permissions that a session waits for: decided by the run's settings, or put to the person. Nothing is permitted that
// neither has permitted in so many words. The bridge shows sessions of Claude, so tools have the names they have there.
import { realpathSync } from "node:fs";
import { asRecord } from "./devtools.ts";
import { shownInput, type Permission } from "./read-page.ts";
import type { Tell } from "./turn-watch.ts";
import { toWish } from "../claude/tool-wish.ts";
import { ruleOn } from "../../permission.ts";
import type { Permissions } from "../../../schema/permissions.ts";

const CHOICES = ["once", "always", "deny"];
/** For this once: what is always allowed is said by the run's settings. */
const RULED = { allow: "once", refuse: "deny" } as const;

/** The answer to one request. */
interface Choice {
  requestId: string | number;
  choice: string;
}

export interface Questions {
  /** Asks what is new, and takes back what is no longer waited for. Returns what the run's settings have decided. */
  show(pending: readonly Permission[]): Choice[];
  /** The page has heard what was decided. */
  settle(requestId: string | number): void;
  /** The request and the choice that an answer means, or null if it means none. */
  answer(askId: string, text: string): Choice | null;
}

export interface QuestionsOptions {
  cwd: string;
  permissions: Permissions;
  tell: Tell;
}

export function createQuestions({ cwd, permissions, tell }: QuestionsOptions): Questions {
  const workspace = realpathSync(cwd);
  /** By request; `isOpen` until it is answered. */
  const asked = new Map<string | number, { askId: string; question: string; isOpen: boolean }>();
  /** Requests that the run's settings have decided, as long as the page shows them. */
  const settled = new Set<string | number>();
  let count = 0;

  function ask({ requestId, tool, input }: Permission, subject: string): void {
    const shown = shownInput(input);
    const question = `May the session use ${tool}?${shown === "" ? "" : ` ${shown}`}`;
    const askId = `permission-${++count}`;
    asked.set(requestId, { askId, question, isOpen: true });
    const permission = { tool, subject: subject === "" ? shown : subject };
    tell({ type: "ask", id: askId, question, options: CHOICES, permission });
  }

  return {
    show(pending) {
      const ids = new Set(pending.map(({ requestId }) => requestId));
      for (const requestId of settled) if (!ids.has(requestId)) settled.delete(requestId);
      for (const [requestId, { askId, isOpen }] of asked) {
        if (ids.has(requestId)) continue;
        asked.delete(requestId);
        if (isOpen) tell({ type: "ask_cancelled", id: askId });
      }
      return pending.flatMap((each): Choice[] => {
        if (asked.has(each.requestId) || settled.has(each.requestId)) return [];
        const wish = toWish(each.tool, asRecord(each.input), workspace);
        const ruling = ruleOn(wish, permissions, workspace);
        if (ruling !== "ask") return [{ requestId: each.requestId, choice: RULED[ruling] }];
        ask(each, wish.subject);
        return [];
      });
    },
    settle: (requestId) => void settled.add(requestId),
    answer(askId, text) {
      const found = [...asked].find(([, each]) => each.askId === askId && each.isOpen);
      if (!found) return null;
      const [requestId, question] = found;
      const choice = text.trim().toLowerCase();
      if (CHOICES.includes(choice)) {
        question.isOpen = false;
        return { requestId, choice };
      }
      const hint = `${JSON.stringify(text.slice(0, 80))} is none of ${CHOICES.join(", ")}.`;
      tell({ type: "ask", id: askId, question: `${hint} ${question.question}`, options: CHOICES });
      return null;
    },
  };
}
