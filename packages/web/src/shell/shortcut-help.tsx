import { translate } from "../text/language.ts";
import { Dialog } from "../parts/dialog.tsx";

const KEYS: [string, string][] = [
  ["Ctrl+K, ⌘K", translate("Find a run, a place or a command")],
  ["?", translate("Show these shortcuts")],
  [
    translate("g then i, r, n, t, s, c, m, h"),
    translate("Go to the inbox, runs, new run, templates, schedules, costs, machine, hosts"),
  ],
  ["j, k", translate("Next or previous item of the inbox")],
  ["1 to 9", translate("Choose an option of the item")],
  ["a", translate("Approve: confirm the plan, allow the tool")],
  ["r", translate("Write an answer, a refusal or changes")],
  ["o", translate("Open the run of the item")],
  ["c", translate("Copy the command of the focused button; Alt+click does the same")],
  ["Esc", translate("Close the panel")],
];

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={translate("Shortcuts")} onClose={onClose}>
      <dl className="shortcuts">
        {KEYS.map(([keys, effect]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
