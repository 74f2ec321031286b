import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"

const api = useSharedServer()
const getPrices = (query: string) => api.get(`/v1/commodities/prices?${query}`)

interface Result {
  readonly slug: string
  readonly unit: string
  readonly points: ReadonlyArray<{ readonly date: string; readonly value: number }>
}
const getResults = async (query: string) =>
  ((await getPrices(query)).json as { readonly data: ReadonlyArray<Result> }).data
const getDates = async (query: string) => (await getResults(query)).map(({ points }) => points.map(({ date }) => date))

/** Published numbers with their digits, from the tables from which the samples are generated. */
const readFacts = (file: string, select: (row: ReadonlyArray<string>) => readonly [string, string | undefined]) =>
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
  it("returns the published digits, including trailing zeros", async () => {
    expect((await getPrices(day("2026-08-29"))).text).toBe(
      '{"data":[{"slug":"cheese-block-sales-price-weekly","unit":"USD/lb","points":[{"date":"2026-08-29","value":1.6140}]}]}'
    )
  })

  it("returns several series, one entry per requested slug, in the requested order", async () => {
    const query = `series=milk-class-iii-price-monthly,${blocks},butter-exch-spot-average-monthly`
    expect((await getPrices(`${query}&from=2026-08-01&to=2026-08-15`)).json).toEqual({
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
    expect((await getPrices(query("%2C"))).text).toBe((await getPrices(query(","))).text)
  })

  it("returns a repeated slug again, in the requested order", async () => {
    const data = await getResults(`series=${blocks},${barrels},${blocks}&from=2025-05-31&to=2025-05-31`)
    expect(data.map(({ points, slug }) => [slug, points])).toEqual([
      [blocks, [{ date: "2025-05-31", value: 1.8428 }]],
      [barrels, [{ date: "2025-05-31", value: 1.9495 }]],
      [blocks, [{ date: "2025-05-31", value: 1.8428 }]]
    ])
  })

  it("returns a whole series as it was published, week by week, digit by digit", async () => {
    const { text } = await getPrices("series=nonfat-dry-milk-sales-price-weekly")
    // three weeks of a government shutdown have no price, so these days are absent
    const published = readFacts("survey-nonfat-dry-milk.csv", ([week = "", price]) => [week, price]).filter(
      (point) => !point.endsWith('"value":}')
    )
    expect(published.length).toBeGreaterThan(700)
    expect(text).toBe(
      `{"data":[{"slug":"nonfat-dry-milk-sales-price-weekly","unit":"USD/lb","points":[${published.join(",")}]}]}`
    )
  })

  it("returns Class IV prices as they were published, dated by the first day of the priced month", async () => {
    const { text } = await getPrices("series=milk-class-iv-price-monthly&from=2012-04-01&to=2026-07-31")
    const published = readFacts("class-iv.csv", (row) => [`${row[0]}-01`, row[2]]).filter(
      (point) => !point.endsWith(":}")
    )
    expect(published.length).toBeGreaterThan(170)
    expect(text).toBe(
      `{"data":[{"slug":"milk-class-iv-price-monthly","unit":"USD/cwt","points":[${published.join(",")}]}]}`
    )
  })

  it("returns daily closes as they were published, dated by trading day", async () => {
    const closes = readFacts("cme-nonfat-dry-milk.csv", ([day = "", close]) => [day, close])
    const published = JSON.parse(`[${closes.join(",")}]`) as Result["points"]
    expect(published.length).toBeGreaterThan(1_300)
    const range = `from=${published[0]?.date}&to=${published.at(-1)?.date}`
    const [spot] = await getResults(`series=nonfat-dry-milk-exch-spot-close-daily&${range}`)
    expect(spot?.points).toEqual(published)
  })

  it("has barrels until 2025-05-31, including the weeks that were later restated as null", async () => {
    const { text } = await getPrices(`series=${barrels}&from=2025-05-01`)
    expect(text).toContain(
      '"points":[{"date":"2025-05-03","value":1.9234},{"date":"2025-05-10","value":1.9056},{"date":"2025-05-17","value":1.8935},{"date":"2025-05-24","value":1.9268},{"date":"2025-05-31","value":1.9495}]'
    )
  })

  it("returns the as-sold price of barrels, not the one at 38 percent moisture", async () => {
    expect((await getPrices(`series=${barrels}&from=2025-04-26&to=2025-04-26`)).text).toContain('"value":1.9203}')
  })

  it("dates daily readings by trading day, weekly ones by the week's last day, monthly ones by the first", async () => {
    const [daily = [], weekly = [], survey = [], monthly = []] = await getDates(
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
    expect(await getDates(`series=${blocks}&from=2026-08-08&to=2026-08-22`)).toEqual([
      ["2026-08-08", "2026-08-15", "2026-08-22"]
    ])
    expect(await getDates(`series=${blocks}&from=2026-08-09&to=2026-08-21`)).toEqual([["2026-08-15"]])
  })

  it("starts at the first reading without `from`, and runs to the latest without `to`", async () => {
    const [all = []] = await getDates(`series=${blocks}`)
    expect([all[0], all.at(-1)]).toEqual(["2012-03-03", "2026-09-26"])
    const [early = []] = await getDates(`series=${blocks}&to=2019-12-31`)
    const [late = []] = await getDates(`series=${blocks}&from=2020-01-01`)
    expect([...early, ...late]).toEqual(all)
    expect([early[0], late.at(-1)]).toEqual([all[0], all.at(-1)])
  })

  it("returns readings in ascending order of dates, each day once", async () => {
    const [all = []] = await getDates("series=butter-exch-spot-close-daily")
    expect(all.length).toBeGreaterThan(1400)
    expect(all).toEqual([...new Set(all)].toSorted())
  })

  it.each(["from=2026-08-09&to=2026-08-14", "from=9999-12-31", "to=0001-01-01", "from=2030-01-01&to=2031-01-01"])(
    "returns the series with empty points if it has no readings: %s",
    async (range) => {
      const { status, text } = await getPrices(`series=${blocks}&${range}`)
      expect([status, text]).toEqual([200, `{"data":[{"slug":"${blocks}","unit":"USD/lb","points":[]}]}`])
    }
  )

  it.each(["from=0001-01-01", "to=9999-12-31", "from=0001-01-01&to=9999-12-31"])(
    "accepts years from 0001 to 9999: %s",
    async (range) => {
      expect((await getPrices(`series=${blocks}&${range}`)).text).toBe((await getPrices(`series=${blocks}`)).text)
    }
  )

  it("accepts a leap day", async () => {
    expect((await getPrices(`series=${blocks}&from=2024-02-29&to=2024-02-29`)).status).toBe(200)
    expect((await getPrices(`series=${blocks}&from=2000-02-29`)).status).toBe(200)
  })
})

describe("prices: invalid requests", () => {
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
    "rejects a `%s` that is not a real calendar day in YYYY-MM-DD format: '%s'",
    async (name, text) => {
      const reply = await getPrices(`series=${blocks}&${name}=${encodeURIComponent(text)}`)
      expect(formatError(reply)).toBe(`400 invalid_request: ${name} must be a real calendar day in YYYY-MM-DD format`)
    }
  )

  it("rejects a `from` later than `to`, by one day and by many", async () => {
    for (const range of [
      "from=2024-01-02&to=2024-01-01",
      "from=9999-12-31&to=0001-01-01",
      "to=2023-12-31&from=2024-01-01"
    ]) {
      expect(formatError(await getPrices(`series=${blocks}&${range}`))).toBe(
        "400 invalid_request: from must not be after to"
      )
    }
  })

  it.each(["", "series=", "from=2024-01-01", "to=2024-01-01"])(
    "rejects missing or empty `series`: '%s'",
    async (query) => {
      expect(formatError(await getPrices(query))).toMatch(/^400 invalid_request: series is required/)
    }
  )

  it("rejects more than 100 slugs, including duplicates, and accepts 100", async () => {
    const slugs = (count: number) => `series=${Array.from({ length: count }, () => barrels).join(",")}&from=2025-05-31`
    expect((await getResults(slugs(100))).length).toBe(100)
    expect(formatError(await getPrices(slugs(101)))).toMatch(/^400 invalid_request: series takes at most 100 /)
    expect(formatError(await getPrices(`series=${"x,".repeat(150)}x`))).toMatch(
      /^400 invalid_request: series takes at most 100 /
    )
  })

  it.each([`${blocks},`, `,${blocks}`, `${blocks},,${barrels}`, ","])("rejects an empty slug: %s", async (list) => {
    expect(formatError(await getPrices(`series=${list}`))).toMatch(/^400 invalid_request: series has an empty name/)
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
  ])("rejects a slug that is not in the catalog in exactly this spelling: '%s'", async (slug) => {
    expect(formatError(await getPrices(`series=${encodeURIComponent(slug)}`))).toBe(
      `400 invalid_request: Unknown series: ${slug}`
    )
  })

  it("fails the whole request for one unknown slug, and names the first in requested order", async () => {
    expect(formatError(await getPrices(`series=${blocks},nope,${barrels},other`))).toBe(
      "400 invalid_request: Unknown series: nope"
    )
    expect(formatError(await getPrices("series=other,nope"))).toBe("400 invalid_request: Unknown series: other")
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
    for (const [query, message] of order) expect(formatError(await getPrices(query))).toMatch(message)
  })
})
