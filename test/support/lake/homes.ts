/** Homes with a lake, for tests that write it in their own process. */
import path from "node:path"
import type { Layout } from "@larder/warehouse"
import { recordFailedRun, rollback, writeLake } from "@larder/warehouse"
import { Effect, Option } from "effect"
import { copyPerTest } from "../warehouse/copy-per-test.ts"
import { publishPrices } from "../warehouse/every-data-set.ts"
import { aLayout, aRun } from "../warehouse/example-data-set.ts"
import { readDeltaRows } from "./reading.ts"

export const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")
export const prices = "commodity.observation_version"

export const readRows = (layout: Layout, table: string, version?: number) =>
  Effect.promise(() => readDeltaRows(lakeOf(layout), table, version))
/** The metrics that have a price, sorted. */
export const readMetrics = (layout: Layout, version?: number, table = prices) =>
  Effect.map(readRows(layout, table, version), (rows) => rows.map((row) => row.metric_name).sort())

export const rollBack = (layout: Layout, only: string, to?: number) =>
  rollback(layout, { to: Option.fromNullishOr(to), only: Option.some(only), note: Option.none() })
/** Makes a generation that changes no data set. */
export const failRun = (layout: Layout, message: string) =>
  recordFailedRun(layout, {
    run: aRun({ pipeline: "commodities", outcome: "failed", message }),
    checks: [],
    leftOut: []
  })

/** Generation 1 has milk. */
export const copyMilkHome = () => copyPerTest(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))
/** Generation 1 has milk, 2 also has butter, and 3 has only milk again. Each was written into the lake. */
export const copyHistoryHome = () =>
  copyPerTest(
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishPrices(layout, "milk")
      yield* writeLake(layout)
      yield* publishPrices(layout, "butter")
      yield* writeLake(layout)
      yield* rollBack(layout, "commodities", 1)
      yield* writeLake(layout)
      return layout
    })
  )
