// Permissions that a session waits for, as questions to the person. Nothing is permitted that the person has not permitted
// in so many words.
import type { Permission } from "./read-page.ts";
import type { Tell } from "./turn-watch.ts";

const CHOICES = ["once", "always", "deny"];

export interface Questions {
  /** Asks what is new, and takes back what is no longer waited for. */
  show(pending: readonly Permission[]): void;
  /** The request and the choice that an answer means, or null if it means none. */
  answer(askId: string, text: string): { requestId: string | number; choice: string } | null;
}

export function createQuestions(tell: Tell): Questions {
  /** By request; `isOpen` until it is answered. */
  const asked = new Map<string | number, { askId: string; question: string; isOpen: boolean }>();
  let count = 0;
  return {
    show(pending) {
      const ids = new Set(pending.map(({ requestId }) => requestId));
      for (const [requestId, { askId, isOpen }] of asked) {
        if (ids.has(requestId)) continue;
        asked.delete(requestId);
        if (isOpen) tell({ type: "ask_cancelled", id: askId });
      }
      for (const { requestId, tool, input } of pending) {
        if (asked.has(requestId)) continue;
        const question = `May the session use ${tool}?${input === "" ? "" : ` ${input}`}`;
        asked.set(requestId, { askId: `permission-${++count}`, question, isOpen: true });
        tell({
          type: "ask",
          id: `permission-${count}`,
          question,
          options: CHOICES,
          permission: { tool, subject: input },
        });
      }
    },
    answer(askId, text) {
      const found = [...asked].find(([, each]) => each.askId === askId && each.isOpen);
      if (!found) return null;
      const [requestId, ask] = found;
      const choice = text.trim().toLowerCase();
      if (CHOICES.includes(choice)) {
        ask.isOpen = false;
        return { requestId, choice };
      }
      const hint = `${JSON.stringify(text.slice(0, 80))} is none of ${CHOICES.join(", ")}.`;
      tell({ type: "ask", id: askId, question: `${hint} ${ask.question}`, options: CHOICES });
      return null;
    },
  };
}
