/** The page of prices, over the bundled samples. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSamples, openPage, readBody, readFailure } from "./data-console.ts"

layer(layerSamples(), { excludeTestServices: true })("prices", (it) => {
  it.effect("draws the requested series and days, and lists the same numbers in a table", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices?series=butter-sales-price-weekly&from=2026-08-01&to=2026-08-31")
      assert.match(page, /<div class="plot" role="img"/)
      assert.include(page, '<time datetime="2026-08-29">29 Aug 2026</time>')
      assert.notInclude(page, '<time datetime="2026-09-05">')
    })
  )
  it.effect("does not draw a second series with a different unit", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices?series=butter-sales-price-weekly&beside=milk-class-iii-price-monthly")
      assert.include(page, "is not drawn: it is in US dollars per hundredweight")
    })
  )
  it.effect("describes a series with its first, lowest and highest reading", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices?series=butter-exch-spot-close-daily&from=")
      assert.include(page, "1.4675 on 4 Jan 2021")
      assert.include(page, "lowest 1.2875, highest 3.3375.")
    })
  )
  it.effect("lists more than 100 series with distinct names", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices")
      const [, series = ""] = /<select id="series"(.*?)<\/select>/s.exec(page) ?? []
      const names = [...series.matchAll(/>([^<]+)<\/option>/g)].map(([, name]) => name)
      assert.isAbove(names.length, 100)
      assert.strictEqual(new Set(names).size, names.length)
    })
  )
  it.effect("lists series, and the metrics that are no series, by their titles", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices")
      const [, series = ""] = /<select id="series"(.*?)<\/select>/s.exec(page) ?? []
      assert.match(
        series,
        /<optgroup label="Series"><option value="butter-exch[^>]+>Butter, exchange spot, daily close</
      )
      assert.match(
        series,
        /<optgroup label="Metrics"><option value="butter_82_europe_mostly_high_biweekly">Butter, 82% fat, Europe, mostly range high, biweekly</
      )
      assert.notInclude(series, "butter_exch_spot_close_daily")
      assert.include(page, "Nothing else")
    })
  )
  it.effect("shows the month of a monthly price, and the week of a weekly one", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices")
      assert.include(page, '<time datetime="2026-08">August 2026</time>')
      assert.include(page, 'week to <time datetime="2026-09-26">26 Sept 2026</time>')
    })
  )
  it.effect("marks the shown period: 1 year by default, everything for an empty first day", () =>
    Effect.gen(function* () {
      const current = /aria-current="true">([^<]+)/
      assert.strictEqual(current.exec(yield* readBody("/data/prices"))?.[1], "1 year")
      assert.strictEqual(current.exec(yield* readBody("/data/prices?from="))?.[1], "Everything")
      assert.notMatch(yield* readBody("/data/prices?to=2026-08-31"), current)
    })
  )
  it.effect("shows prices with as many decimals as their unit is quoted in", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices")
      for (const figure of ["1.3560", "1.3500", "17.60"]) assert.include(page, `<div>${figure}</div>`)
    })
  )
  it.effect.each([
    ["from=gestern", "Type a day such as 2026-10-15."],
    ["from=2026-08-01&to=2026-02-30", "Type a day such as 2026-10-15."],
    ["from=2026-08-02&to=2026-08-01", "The first day is after the last one."]
  ] as const)("returns 422 and draws nothing for invalid or reversed days: %s", ([query, mistake]) =>
    Effect.gen(function* () {
      const { body, status } = yield* openPage(`/data/prices?${query}`)
      assert.strictEqual(status, 422)
      assert.include(body, mistake)
      assert.notInclude(body, "data-price-chart")
    })
  )
  it.effect("shows the year before the last day if only that day is given", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices?series=butter-sales-price-weekly&to=2024-08-31")
      assert.include(page, 'value="2023-08-31"')
    })
  )
})

layer(layerSamples(undefined, ["cme_group"]), { excludeTestServices: true })("prices of withheld series", (it) => {
  it.effect("are not drawn, listed or offered", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/prices")
      assert.include(page, "butter-sales-price-weekly")
      assert.notMatch(page, /exch[-_]spot/)
      assert.strictEqual(yield* readFailure("/data/prices?series=butter-exch-spot-close-daily"), "PageNotFound")
    })
  )
})
