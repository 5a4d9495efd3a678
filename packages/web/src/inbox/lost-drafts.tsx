import { useLive } from "../live/use-live.ts";
import { Notice } from "../parts/notice.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { forgetDraft, useDrafts } from "../text/drafts.ts";
import { translate } from "../text/language.ts";
import { LongText } from "../text/long-text.tsx";

/** An item that was answered elsewhere, or withdrawn, leaves its draft. Without `run`, shows those of all runs. */
export function LostDrafts({ run }: { run?: string }) {
  const drafts = useDrafts();
  const inbox = useLive((state) => state.inbox);
  const isKnown = useLive((state) => state.runs !== null && state.connection === "live");
  if (!isKnown) return null;
  const open = new Set(inbox.map(({ id }) => id));
  const lost = drafts.filter((draft) => !open.has(draft.item) && (run === undefined || draft.run === run));
  return lost.map(({ item, part, title, text }) => (
    <Notice key={`${item} ${part}`} tone="warning">
      <strong>
        {part === "edits"
          ? translate("Your edits of the plan were not applied.")
          : translate("This was answered elsewhere, so your words were not sent:")}{" "}
      </strong>
      <AgentWords text={title} max={160} />
      {/* `PlanCard` keeps its edits as JSON, which means nothing to the user. */}
      {part === "words" && <LongText text={text} max={600} />}
      <button type="button" className="button" onClick={() => forgetDraft(item, part)}>
        {part === "edits" ? translate("Discard my edits") : translate("Discard my words")}
      </button>
    </Notice>
  ));
}
