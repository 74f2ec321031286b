/** Prices as the console draws them, over the bundled samples. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { answered, dataAfter, shown } from "./data-console.ts"

layer(dataAfter("select 1"), { excludeTestServices: true })("prices", (it) => {
  it.effect("are drawn for the series and days that are asked for, with the same numbers as a table", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices?series=butter-sales-price-weekly&from=2026-08-01&to=2026-08-31")
      assert.match(page, /<div class="plot" role="img"/)
      assert.include(page, '<time datetime="2026-08-29">29 Aug 2026</time>')
      assert.notInclude(page, '<time datetime="2026-09-05">')
    })
  )
  it.effect("are drawn beside others of the same unit alone", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices?series=butter-sales-price-weekly&beside=milk-class-iii-price-monthly")
      assert.include(page, "is not drawn: it is in USD per cwt")
    })
  )
  it.effect("are described with their peaks, their first day and their last", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices?series=butter-exch-spot-close-daily&from=")
      assert.include(page, "1.4675 on 4 Jan 2021")
      assert.include(page, "lowest 1.2875, highest 3.3375.")
    })
  )
  it.effect("have names that tell them apart", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      const [, series = ""] = /<select id="series"(.*?)<\/select>/s.exec(page) ?? []
      const names = [...series.matchAll(/>([^<]+)<\/option>/g)].map(([, name]) => name)
      assert.isAbove(names.length, 100)
      assert.strictEqual(new Set(names).size, names.length)
    })
  )
  it.effect("are listed as series and metrics, with what differs before a narrow list cuts the name", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      const [, series = ""] = /<select id="series"(.*?)<\/select>/s.exec(page) ?? []
      assert.match(
        series,
        /<optgroup label="Series"><option value="butter-exch[^>]+>Butter, Grade AA, daily, Chicago Mercantile Exchange</
      )
      assert.match(series, /<optgroup label="Metrics"><option value="butter_/)
      assert.include(page, "Nothing else")
    })
  )
  it.effect("of milk are named by class as the trade does", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      assert.include(page, "Milk, Class I price, monthly, Federal milk marketing orders")
      assert.include(page, "Milk, Class IV price, monthly, Federal milk marketing orders")
      assert.include(page, "milk Class III price monthly")
    })
  )
  it.effect("are of a day, a week or a month, as their series has it", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      assert.include(page, '<time datetime="2026-08">August 2026</time>')
      assert.include(page, 'week to <time datetime="2026-09-26">26 Sept 2026</time>')
    })
  )
  it.effect("that ended while others of their rhythm went on say since when", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      assert.deepStrictEqual(page.match(/no reading since [^<]+/g), ["no reading since 31 May 2025"])
    })
  )
  it.effect("mark the days that are shown, which are all of them where none is asked for", () =>
    Effect.gen(function* () {
      const current = /aria-current="true">([^<]+)/
      assert.strictEqual(current.exec(yield* shown("/data/prices"))?.[1], "1 year")
      assert.strictEqual(current.exec(yield* shown("/data/prices?from="))?.[1], "Everything")
      assert.notMatch(yield* shown("/data/prices?to=2026-08-31"), current)
    })
  )
  it.effect("stand below each other with as many decimals as their unit is quoted in", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices")
      for (const figure of ["1.3560", "1.3500", "17.60"]) assert.include(page, `<div>${figure}</div>`)
    })
  )
  it.effect.each([
    ["from=gestern", "Type a day such as 2026-10-15."],
    ["from=2026-08-01&to=2026-02-30", "Type a day such as 2026-10-15."],
    ["from=2026-08-02&to=2026-08-01", "The first day is after the last one."]
  ] as const)(
    "of days that are none, or run backwards, are not drawn, and the field says why: %s",
    ([query, mistake]) =>
      Effect.gen(function* () {
        const { body, status } = yield* answered(`/data/prices?${query}`)
        assert.strictEqual(status, 422)
        assert.include(body, mistake)
        assert.notInclude(body, "data-price-chart")
      })
  )
  it.effect("until a day alone are those of the year before it", () =>
    Effect.gen(function* () {
      const page = yield* shown("/data/prices?series=butter-sales-price-weekly&to=2024-08-31")
      assert.include(page, 'value="2023-08-31"')
    })
  )
})
