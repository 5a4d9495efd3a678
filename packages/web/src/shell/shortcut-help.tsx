import { translate } from "../text/language.ts";
import { Dialog } from "../parts/dialog.tsx";

/** Keys of one row are alternatives. */
const KEYS: [string[], string][] = [
  [["Ctrl+K", "⌘K"], translate("Find a run, a place or a command")],
  [["?"], translate("Show these shortcuts")],
  [
    ["g i", "g r", "g n", "g t", "g s", "g c", "g m", "g h"],
    translate("Go to the inbox, runs, new run, templates, schedules, costs, machine, hosts"),
  ],
  [["j", "k"], translate("Next or previous item of the inbox")],
  [["1", "…", "9"], translate("Choose an option of the item")],
  [["a"], translate("Approve: confirm the plan, allow the tool")],
  [["r"], translate("Write an answer, a refusal or changes")],
  [["Ctrl+Enter", "⌘Enter"], translate("Send the answer that you write")],
  [["o"], translate("Open the run of the item")],
  [["+", "−", "0", "← → ↑ ↓"], translate("Zoom and move the graph that has the focus")],
  [["c"], translate("Copy the command of the focused button; Alt+click does the same")],
  [["Esc"], translate("Close the panel")],
];

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={translate("Shortcuts")} onClose={onClose}>
      <dl className="shortcuts">
        {KEYS.map(([keys, effect]) => (
          <div key={effect}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
