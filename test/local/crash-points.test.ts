import { expect, test } from "vitest";
import { allPoints, killAtEach } from "./crash/kill-at.ts";

/** Of all points, spread over a run's life. `npm run crash -- --all` goes through every one. */
const kills = 6;

test("killed at a point, before a request or after its answer, and started again, every run comes to its end and every step ran", async () => {
  const points = await allPoints();
  expect(points.length).toBeGreaterThan(200);
  // other points each time that the program changes, the same ones as long as it does not
  const chosen = Array.from({ length: kills }, (_, at) => 1 + Math.floor(((at + 0.5) * points.length) / kills));
  const killed = await killAtEach(chosen, 3);
  expect(
    killed.flatMap(({ point, killedAt, faults }) => faults.map((fault) => `${point}, ${killedAt}: ${fault}`)),
  ).toEqual([]);
  // otherwise nothing was killed in the middle of anything
  expect(killed.filter(({ killedAt }) => killedAt !== undefined).length).toBeGreaterThanOrEqual(kills - 1);
}, 400_000);
