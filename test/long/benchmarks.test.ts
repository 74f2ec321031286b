/** `npm run test:all` runs the benchmarks of the API and of rounds. */
import { it } from "vitest"
import { runQuickly } from "../bench/run-quickly.ts"

it("the benchmarks of the console, of stores and of growth still run and print their results", () =>
  runQuickly(
    ["console", "storefronts", "growth"],
    [
      "usage, a year of a key",
      "B6 products/s on one core",
      "B6 peak memory at",
      "| Entries | 1,000 | 10,000 | Exponent |"
    ]
  ))
