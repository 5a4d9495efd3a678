import { translate } from "../text/language.ts";
import { FormField } from "../parts/form-field.tsx";
import { shown } from "../text/safe-text.ts";
import type { Template } from "../../../tutti/src/schema/template.ts";

interface Properties {
  name: string;
  byDefault: Template["variables"][string];
  /** Empty for the default. */
  value: string;
  onChange: (value: string) => void;
}

export function VariableField({ name, byDefault, value, onChange }: Properties) {
  const usual = shown(String(byDefault), 80);
  return (
    <FormField name={name}>
      {(id) =>
        typeof byDefault === "boolean" ? (
          <select id={id} className="field" value={value} onChange={({ target }) => onChange(target.value)}>
            <option value="">{translate("Default: {value}", { value: usual })}</option>
            {["true", "false"].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        ) : (
          <input
            id={id}
            className="field"
            type={typeof byDefault === "number" ? "number" : "text"}
            step="any"
            placeholder={usual}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </FormField>
  );
}
