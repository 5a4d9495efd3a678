import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventsFile, renderEvents } from "../../../../scripts/generate-events.mjs";
import { EVENTS } from "../../src/schema/event.ts";

const page = readFileSync(eventsFile, "utf8");

describe("docs/events.md", () => {
  it("is up to date with the schemas; `npm run schemas` updates it", () => {
    expect(page).toBe(renderEvents());
  });

  it("lists every event type with its members and their comments (E68)", () => {
    const sections = new Map(page.split("\n## ").map((part) => [part.split("\n")[0]!.replaceAll("`", ""), part]));
    for (const [type, schema] of Object.entries(EVENTS)) {
      for (const member of Object.keys(schema.shape)) expect(sections.get(type), type).toContain(`| \`${member}\` |`);
    }
    expect(sections.get("worker:lost")).toContain("The session of an attempt ended without an answer");
    expect(sections.get("orchestrator:error")).toContain("True if this error ends the run");
    expect(sections.get("log:removed")).toContain("No members.");
    expect(sections.get("worker:progress")).toContain("Informational: no rule reads this event");
  });
});
