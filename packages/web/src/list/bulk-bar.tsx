import { translate } from "../text/language.ts";
import { useState } from "react";
import { AskedButton } from "../shell/asked-button.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { plural } from "../text/format.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

interface Properties {
  runs: readonly ListedRun[];
  /** Selects all runs of the list; null if all are selected. */
  onAll: (() => void) | null;
  /** Called with the runs that need not be selected any more. */
  onDone: (ids: readonly string[]) => void;
}

/** Each button acts only on those of the selected `runs` that are in a state which allows it. */
export function BulkBar({ runs, onAll, onDone }: Properties) {
  const [failed, setFailed] = useState<string[]>([]);
  const ids = (matches: (run: ListedRun) => boolean) => runs.filter(matches).map(({ id }) => id);
  const open = ids(({ status }) => !isRunOver(status));
  const paused = ids(({ status }) => status === "paused");
  const active = ids(({ status }) => !isRunOver(status) && status !== "paused" && status !== "created");
  const ended = ids(({ status }) => isRunOver(status));
  const deselect = () => onDone(ids(() => true));
  /** Continues after a refusal, and names the `refused` runs. */
  const each = (chosen: readonly string[], act: (id: string) => Promise<unknown>) => async () => {
    const refused: string[] = [];
    for (const id of chosen) await act(id).catch(() => refused.push(id));
    setFailed(refused);
    // The user may have selected others meanwhile.
    if (refused.length === 0) deselect();
  };
  return (
    <section className="card bulk-bar" aria-label={translate("Selected runs")}>
      <strong>{translate("{runs} selected", { runs: plural(runs.length, "run") })}</strong>
      <OrderButton
        word={translate("Pause {active}", { active: active.length })}
        disabled={active.length === 0}
        command={lines("pause", active)}
        order={each(active, (id) => server.order(id, "pause"))}
      />
      <OrderButton
        word={translate("Resume {paused}", { paused: paused.length })}
        disabled={paused.length === 0}
        command={lines("resume", paused)}
        order={each(paused, (id) => server.order(id, "resume"))}
      />
      {open.length > 0 && (
        <AskedButton
          word={translate("Cancel {open}", { open: open.length })}
          question={translate("Cancel {runs}? They cannot be resumed.", { runs: plural(open.length, "run") })}
          yes={translate("Yes, cancel")}
          command={lines("cancel", open)}
          order={each(open, (id) => server.order(id, "cancel"))}
        />
      )}
      {ended.length > 0 && (
        <AskedButton
          word={translate("Delete {ended}", { ended: ended.length })}
          question={translate("Delete {runs}? Their branches stay.", { runs: plural(ended.length, "run") })}
          yes={translate("Yes, delete")}
          needs="admin"
          command={lines("delete", ended)}
          order={each(ended, (id) => server.call("DELETE /api/orchestrator/:id", { params: { id } }))}
        />
      )}
      {onAll !== null && (
        <button type="button" className="button" onClick={onAll}>
          {translate("Select all")}
        </button>
      )}
      <button type="button" className="button" onClick={deselect}>
        {translate("Select none")}
      </button>
      {failed.length > 0 && <span role="alert">{translate("Refused: {runs}", { runs: failed.join(", ") })}</span>}
    </section>
  );
}

const lines = (verb: string, ids: readonly string[]): string => ids.map((id) => `tutti ${verb} ${id}`).join("; ");
