import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"

const api = useSharedServer()
const prices = (query: string) => api.get(`/v1/commodities/prices?${query}`)

interface Result {
  readonly slug: string
  readonly unit: string
  readonly points: ReadonlyArray<{ readonly date: string; readonly value: number }>
}
const dataAt = async (query: string) => ((await prices(query)).json as { readonly data: ReadonlyArray<Result> }).data
const datesAt = async (query: string) => (await dataAt(query)).map(({ points }) => points.map(({ date }) => date))

/** Numbers that were published, with their digits, from the tables behind the samples. */
const facts = (file: string, select: (row: ReadonlyArray<string>) => readonly [string, string | undefined]) =>
  readFileSync(path.join(repository, "test/samples/commodities/facts", file), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => select(line.split(",")))
    .map(([date, value]) => `{"date":"${date}","value":${value}}`)

const blocks = "cheese-block-sales-price-weekly"
const barrels = "cheese-barrel-sales-price-weekly"
const day = (date: string) => `series=${blocks}&from=${date}&to=${date}`

describe("prices", () => {
  it("answers the published digits, trailing zeros included", async () => {
    expect((await prices(day("2026-08-29"))).text).toBe(
      '{"data":[{"slug":"cheese-block-sales-price-weekly","unit":"USD/lb","points":[{"date":"2026-08-29","value":1.6140}]}]}'
    )
  })

  it("answers several series, one entry per requested slug, in the requested order", async () => {
    const query = `series=milk-class-iii-price-monthly,${blocks},butter-exch-spot-average-monthly`
    expect((await prices(`${query}&from=2026-08-01&to=2026-08-15`)).json).toEqual({
      data: [
        {
          slug: "milk-class-iii-price-monthly",
          unit: "USD/cwt",
          points: [{ date: "2026-08-01", value: expect.any(Number) }]
        },
        {
          slug: blocks,
          unit: "USD/lb",
          points: [
            { date: "2026-08-01", value: expect.any(Number) },
            { date: "2026-08-08", value: 1.6095 },
            { date: "2026-08-15", value: 1.635 }
          ]
        },
        {
          slug: "butter-exch-spot-average-monthly",
          unit: "USD/lb",
          points: [{ date: "2026-08-01", value: expect.any(Number) }]
        }
      ]
    })
  })

  it("reads an encoded comma as a comma", async () => {
    const query = (comma: string) => `series=${blocks}${comma}${barrels}&from=2025-05-31&to=2025-05-31`
    expect((await prices(query("%2C"))).text).toBe((await prices(query(","))).text)
  })

  it("answers a repeated slug again, in the requested order", async () => {
    const data = await dataAt(`series=${blocks},${barrels},${blocks}&from=2025-05-31&to=2025-05-31`)
    expect(data.map(({ points, slug }) => [slug, points])).toEqual([
      [blocks, [{ date: "2025-05-31", value: 1.8428 }]],
      [barrels, [{ date: "2025-05-31", value: 1.9495 }]],
      [blocks, [{ date: "2025-05-31", value: 1.8428 }]]
    ])
  })

  it("answers a whole series as it was published, week by week, digit by digit", async () => {
    const { text } = await prices("series=nonfat-dry-milk-sales-price-weekly")
    // Three weeks of a government shutdown have no price: the days are absent.
    const published = facts("survey-nonfat-dry-milk.csv", ([week = "", price]) => [week, price]).filter(
      (point) => !point.endsWith('"value":}')
    )
    expect(published.length).toBeGreaterThan(700)
    expect(text).toBe(
      `{"data":[{"slug":"nonfat-dry-milk-sales-price-weekly","unit":"USD/lb","points":[${published.join(",")}]}]}`
    )
  })

  it("answers Class IV prices as they were published, dated by the first day of the priced month", async () => {
    const { text } = await prices("series=milk-class-iv-price-monthly&from=2012-04-01&to=2026-07-31")
    const published = facts("class-iv.csv", (row) => [`${row[0]}-01`, row[2]]).filter((point) => !point.endsWith(":}"))
    expect(published.length).toBeGreaterThan(170)
    expect(text).toBe(
      `{"data":[{"slug":"milk-class-iv-price-monthly","unit":"USD/cwt","points":[${published.join(",")}]}]}`
    )
  })

  it("answers daily closes as they were published, dated by trading day", async () => {
    const closes = facts("cme-nonfat-dry-milk.csv", ([day = "", close]) => [day, close])
    const published = JSON.parse(`[${closes.join(",")}]`) as Result["points"]
    expect(published.length).toBeGreaterThan(1_300)
    const range = `from=${published[0]?.date}&to=${published.at(-1)?.date}`
    const [spot] = await dataAt(`series=nonfat-dry-milk-exch-spot-close-daily&${range}`)
    expect(spot?.points).toEqual(published)
  })

  it("ends barrels on 2025-05-31, and keeps the weeks that were restated as nulls", async () => {
    const { text } = await prices(`series=${barrels}&from=2025-05-01`)
    expect(text).toContain(
      '"points":[{"date":"2025-05-03","value":1.9234},{"date":"2025-05-10","value":1.9056},{"date":"2025-05-17","value":1.8935},{"date":"2025-05-24","value":1.9268},{"date":"2025-05-31","value":1.9495}]'
    )
  })

  it("answers the as-sold price of barrels, not the one at 38 percent moisture", async () => {
    expect((await prices(`series=${barrels}&from=2025-04-26&to=2025-04-26`)).text).toContain('"value":1.9203}')
  })

  it("dates daily readings by trading day, weekly ones by the week's last day, monthly ones by the first", async () => {
    const [daily = [], weekly = [], survey = [], monthly = []] = await datesAt(
      `series=butter-exch-spot-close-daily,butter-exch-spot-average-weekly,butter-sales-price-weekly,butter-exch-spot-average-monthly&from=2026-07-01&to=2026-08-31`
    )
    const weekday = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay()
    expect(daily.filter((date) => [0, 6].includes(weekday(date)))).toEqual([])
    expect(daily.length).toBeGreaterThan(35)
    expect(weekly.every((date) => weekday(date) === 5)).toBe(true)
    expect(survey.every((date) => weekday(date) === 6)).toBe(true)
    expect(monthly).toEqual(["2026-07-01", "2026-08-01"])
  })
})

describe("the range of days", () => {
  it("includes readings dated exactly `from` or `to`", async () => {
    expect(await datesAt(`series=${blocks}&from=2026-08-08&to=2026-08-22`)).toEqual([
      ["2026-08-08", "2026-08-15", "2026-08-22"]
    ])
    expect(await datesAt(`series=${blocks}&from=2026-08-09&to=2026-08-21`)).toEqual([["2026-08-15"]])
  })

  it("starts at the first reading without `from`, and runs to the latest without `to`", async () => {
    const [all = []] = await datesAt(`series=${blocks}`)
    expect([all[0], all.at(-1)]).toEqual(["2012-03-03", "2026-09-26"])
    const [early = []] = await datesAt(`series=${blocks}&to=2019-12-31`)
    const [late = []] = await datesAt(`series=${blocks}&from=2020-01-01`)
    expect([...early, ...late]).toEqual(all)
    expect([early[0], late.at(-1)]).toEqual([all[0], all.at(-1)])
  })

  it("answers readings in ascending order of dates, each day once", async () => {
    const [all = []] = await datesAt("series=butter-exch-spot-close-daily")
    expect(all.length).toBeGreaterThan(1400)
    expect(all).toEqual([...new Set(all)].toSorted())
  })

  it.each(["from=2026-08-09&to=2026-08-14", "from=9999-12-31", "to=0001-01-01", "from=2030-01-01&to=2031-01-01"])(
    "gives the series with empty points when it has no readings: %s",
    async (range) => {
      const { status, text } = await prices(`series=${blocks}&${range}`)
      expect([status, text]).toEqual([200, `{"data":[{"slug":"${blocks}","unit":"USD/lb","points":[]}]}`])
    }
  )

  it.each(["from=0001-01-01", "to=9999-12-31", "from=0001-01-01&to=9999-12-31"])(
    "takes years from 0001 to 9999: %s",
    async (range) => {
      expect((await prices(`series=${blocks}&${range}`)).text).toBe((await prices(`series=${blocks}`)).text)
    }
  )

  it("takes a leap day", async () => {
    expect((await prices(`series=${blocks}&from=2024-02-29&to=2024-02-29`)).status).toBe(200)
    expect((await prices(`series=${blocks}&from=2000-02-29`)).status).toBe(200)
  })
})

describe("prices: what gives 400", () => {
  const impossible = [
    "2023-02-29",
    "1900-02-29",
    "2024-02-30",
    "2024-04-31",
    "2024-13-01",
    "2024-00-10",
    "2024-01-00",
    "2024-01-32",
    "0000-01-01",
    "10000-01-01",
    "-001-01-01",
    "2024-1-1",
    "24-01-01",
    "20240101",
    "2024/01/01",
    "01-02-2024",
    "2024-01-01T00:00:00Z",
    "2024-01-01 ",
    "2024-01",
    "2024",
    "today",
    "２０２４-01-01",
    ""
  ]
  it.each(impossible.flatMap((text) => [["from", text] as const, ["to", text] as const]))(
    "rejects a `%s` that is not a real calendar day in YYYY-MM-DD form: '%s'",
    async (name, text) => {
      const reply = await prices(`series=${blocks}&${name}=${encodeURIComponent(text)}`)
      expect(formatError(reply)).toBe(`400 invalid_request: ${name} must be a real calendar day in YYYY-MM-DD form`)
    }
  )

  it("rejects a `from` later than `to`, by one day and by many", async () => {
    for (const range of [
      "from=2024-01-02&to=2024-01-01",
      "from=9999-12-31&to=0001-01-01",
      "to=2023-12-31&from=2024-01-01"
    ]) {
      expect(formatError(await prices(`series=${blocks}&${range}`))).toBe(
        "400 invalid_request: from must not be after to"
      )
    }
  })

  it.each(["", "series=", "from=2024-01-01", "to=2024-01-01"])(
    "rejects missing or empty `series`: '%s'",
    async (query) => {
      expect(formatError(await prices(query))).toMatch(/^400 invalid_request: series is required/)
    }
  )

  it("rejects more than 100 slugs, duplicates counted, and takes 100", async () => {
    const slugs = (count: number) => `series=${Array.from({ length: count }, () => barrels).join(",")}&from=2025-05-31`
    expect((await dataAt(slugs(100))).length).toBe(100)
    expect(formatError(await prices(slugs(101)))).toMatch(/^400 invalid_request: series takes at most 100 /)
    expect(formatError(await prices(`series=${"x,".repeat(150)}x`))).toMatch(
      /^400 invalid_request: series takes at most 100 /
    )
  })

  it.each([`${blocks},`, `,${blocks}`, `${blocks},,${barrels}`, ","])("rejects an empty slug: %s", async (list) => {
    expect(formatError(await prices(`series=${list}`))).toMatch(/^400 invalid_request: series has an empty name/)
  })

  it.each([
    "quark",
    "Cheese-block-sales-price-weekly",
    "cheese_block_sales_price_weekly",
    ` ${blocks}`,
    `${blocks} `,
    `${blocks};${barrels}`,
    "%",
    "*",
    "käse",
    "__proto__",
    "toString"
  ])("rejects a slug that the catalog does not have exactly so: '%s'", async (slug) => {
    expect(formatError(await prices(`series=${encodeURIComponent(slug)}`))).toBe(
      `400 invalid_request: Unknown series: ${slug}`
    )
  })

  it("fails the whole request for one unknown slug, and names the first in requested order", async () => {
    expect(formatError(await prices(`series=${blocks},nope,${barrels},other`))).toBe(
      "400 invalid_request: Unknown series: nope"
    )
    expect(formatError(await prices("series=other,nope"))).toBe("400 invalid_request: Unknown series: other")
  })

  it("checks in this order: missing, more than 100, from, to, from after to, unknown slug", async () => {
    const many = Array.from({ length: 101 }, () => "nope").join(",")
    const order = [
      ["from=x&to=y", /series is required/],
      [`series=${many}&from=x&to=y`, /at most 100/],
      ["series=nope&from=x&to=y", /^400 invalid_request: from must be/],
      ["series=nope&from=2024-01-01&to=y", /^400 invalid_request: to must be/],
      ["series=nope&from=2024-01-02&to=2024-01-01", /from must not be after to/],
      ["series=nope&from=2024-01-01&to=2024-01-01", /Unknown series: nope/]
    ] as const
    for (const [query, message] of order) expect(formatError(await prices(query))).toMatch(message)
  })
})
