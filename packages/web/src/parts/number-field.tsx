import { FormField } from "./form-field.tsx";

interface Properties {
  name: string;
  min: number;
  max?: number;
  isAmount?: boolean;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}

export function NumberField({ name, min, max, isAmount = false, placeholder, value, onChange }: Properties) {
  return (
    <FormField name={name}>
      {(id) => (
        <input
          id={id}
          className="field is-short"
          type="number"
          min={min}
          max={max}
          step={isAmount ? "any" : undefined}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </FormField>
  );
}
