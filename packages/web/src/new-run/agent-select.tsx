import { translate } from "../text/language.ts";
import type { AgentChoice } from "./agent-choices.ts";
import { FormField } from "../parts/form-field.tsx";
import { shown } from "../text/safe-text.ts";

interface Properties {
  name: string;
  choices: readonly AgentChoice[];
  /** The text of the empty value. */
  usual: string;
  value: string;
  isLoading: boolean;
  onChange: (agent: string) => void;
}

export function AgentSelect({ name, choices, usual, value, isLoading, onChange }: Properties) {
  const chosen = choices.find((choice) => choice.name === value);
  return (
    <FormField name={name} note={chosen?.note ?? ""}>
      {(id) => (
        <select id={id} className="field" value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">{usual}</option>
          {choices.map((choice) => (
            <option key={choice.name} value={choice.name}>
              {`${choice.name} (${choice.word})`}
            </option>
          ))}
          {value !== "" && !chosen && <option value={value}>{shown(value, 80)}</option>}
          {isLoading && <option disabled>{translate("checking …")}</option>}
        </select>
      )}
    </FormField>
  );
}
