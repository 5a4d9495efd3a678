/**
 * How often a test repeats what depends on chance or size. `npm test` repeats it a few times, and `npm run test:long`,
 * which the gate runs too, more often. A number in the variable `name` overrides both.
 */
export function repetitions(few: number, many: number, name?: string): number {
  const given = name === undefined ? undefined : process.env[name];
  return Number(given ?? (process.env["TUTTI_TEST_LONG"] === "1" ? many : few));
}
