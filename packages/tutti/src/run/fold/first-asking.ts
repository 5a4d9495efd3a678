import type { Phase } from "../../schema/status.ts";
import type { Owed } from "../../schema/worker.ts";

export const firstAsking = (phase: Phase): Owed => ({
  phase,
  try: 1,
  problems: [],
  note: null,
  interrupted: false,
  waitsFor: null,
});
