import { simulate } from "./simulation.ts";
const from = Number(process.argv[2] ?? 1), n = Number(process.argv[3] ?? 20);
const t = performance.now();
let steps = 0; const counts = new Map<string, number>();
let bad = 0;
const kinds = new Map<string, number[]>();
for (let seed = from; seed < from + n; seed++) {
  const r = await simulate({ seed });
  steps += r.steps;
  for (const [k, v] of r.counts) counts.set(k, (counts.get(k) ?? 0) + v);
  if (r.violation) { bad++; const key = r.violation.message.replaceAll(/orch_\w+|\d+|c\w{8,}/g, "#").slice(0,100); kinds.set(key, [...(kinds.get(key) ?? []), seed]);
    if (n === 1) console.log(r.log.slice(-Number(process.argv[4] ?? 60)).join("\n")); }
}
for (const [k, v] of kinds) console.log(v.length, k, v.slice(0, 8).join(","));
if (n > 1) console.log([...counts].sort().map(([k, v]) => `${k}=${v}`).join("\n"));
console.log({ bad, steps, ms: Math.round(performance.now() - t) });
