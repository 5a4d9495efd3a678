import { translate } from "../text/language.ts";
import type { StatusStyle } from "../run/run-look.ts";

const ENDINGS: Readonly<Record<string, StatusStyle>> = {
  "worker:completed": { word: translate("Completed"), tone: "good", icon: "check" },
  "worker:failed": { word: translate("Failed"), tone: "bad", icon: "cross" },
  "worker:timeout": { word: translate("Timed out"), tone: "bad", icon: "clock" },
  "worker:cancelled": { word: translate("Cancelled"), tone: "neutral", icon: "minus" },
  "worker:lost": { word: translate("Lost"), tone: "bad", icon: "warning" },
  "main:lost": { word: translate("Lost"), tone: "bad", icon: "warning" },
};

/** `ending` is the type of the event that ended an attempt. */
export const endingLook = (ending: string): StatusStyle =>
  ENDINGS[ending] ?? { word: translate("Ended"), tone: "neutral", icon: "minus" };
