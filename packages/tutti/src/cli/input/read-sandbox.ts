import { TuttiError } from "../../schema/error.ts";
import { SandboxMode } from "../../schema/agent/sandbox.ts";

export function readSandbox(value: string | undefined): SandboxMode | undefined {
  const parsed = SandboxMode.optional().safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TuttiError("usage", `"${value}" is not a valid value of --sandbox. Use auto, off or required.`);
}
