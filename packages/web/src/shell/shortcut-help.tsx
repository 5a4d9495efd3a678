import { Dialog } from "../parts/dialog.tsx";

const KEYS: [string, string][] = [
  ["Ctrl+K, ⌘K", "Find a run, a place or a command"],
  ["?", "Show these shortcuts"],
  ["g then i, r, n, t, s, c, m, h", "Go to the inbox, runs, new run, templates, schedules, costs, machine, hosts"],
  ["j, k", "Next or previous item of the inbox"],
  ["1 to 9", "Choose an option of the item"],
  ["a", "Approve: confirm the plan, allow the tool"],
  ["r", "Write an answer, a refusal or changes"],
  ["o", "Open the run of the item"],
  ["Esc", "Close the panel"],
];

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
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
