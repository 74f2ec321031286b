import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { feedNamed } from "@larder/test/support/pipelines/commodity-payloads.ts"
import type { TableName } from "./catalog/lines.ts"
import { catalog, parseCatalog } from "./catalog.ts"

const { feeds, metrics, products, series } = catalog()

const tableText = (name: TableName) => readFileSync(new URL(`./catalog/${name}.tsv`, import.meta.url), "utf8")

/** The five products, as the report describes them. */
const specs: Readonly<Record<string, readonly [commodity: string, spec: string]>> = {
  butter: ["Butter", "Grade AA"],
  "cheese-block": ["Cheese", "40 pound block"],
  "cheese-barrel": ["Cheese", "barrels"],
  "nonfat-dry-milk": ["Nonfat Dry Milk", "Grade A"],
  "dry-whey": ["Dry Whey", "Extra Grade"]
}

/** `<p>` stands for a product. */
const families = [
  ["<p>-exch-spot-close-daily", "Chicago Mercantile Exchange", "gov-mars/1603", "daily"],
  ["<p>-exch-spot-average-weekly", "Chicago Mercantile Exchange", "gov-mars/1602", "weekly"],
  ["<p>-exch-spot-average-monthly", "Chicago Mercantile Exchange", "gov-mars/1623", "monthly"],
  ["<p>-sales-price-weekly", "United States manufacturers", "gov-mpr/2993", "weekly"]
] as const

interface Line {
  readonly slug: string
  readonly commodity: string
  readonly spec: string | null
  readonly market: string
  readonly unit: string
  readonly report: string
  readonly frequency: string
}

const expected: ReadonlyArray<Line> = [
  ...Object.entries(specs).flatMap(([product, [commodity, spec]]) =>
    families.map(([slug, market, report, frequency]) => ({
      slug: slug.replace("<p>", product),
      commodity,
      spec,
      market,
      unit: "USD/lb",
      report,
      frequency
    }))
  ),
  ...["i", "ii", "iii", "iv"].map((name) => ({
    slug: `milk-class-${name}-price-monthly`,
    commodity: "Milk",
    spec: null,
    market: "Federal milk marketing orders",
    unit: "USD/cwt",
    report: name === "i" ? "gov-mpr/2989" : "gov-mpr/2991",
    frequency: "monthly"
  }))
]

const titles: Readonly<Record<string, string>> = {
  "gov-mars/1603": "CME Group - Daily Cash Trading - Week to Date",
  "gov-mars/1602": "CME Group - Weekly Recap",
  "gov-mars/1623": "Dairy Monthly Averages",
  "gov-mpr/2993": "National Dairy Products Sales Report",
  "gov-mpr/2989": "Announcement of Advanced Prices and Pricing Factors",
  "gov-mpr/2991": "Announcement of Class and Component Prices"
}

const metricNamed = new Map(metrics.map((metric) => [metric.metric_name, metric]))
const reportOf = (feed: string) => feed.split("/").slice(0, 2).join("/")
const findRepeated = (names: ReadonlyArray<string>) => names.filter((name, index) => names.indexOf(name) !== index)
const groupsInOrder = [...new Set(series.map(({ commodity }) => commodity))]

describe("the 24 series", () => {
  it("are those of the interface, with the same commodity, spec, market, unit, report and frequency", () => {
    assert.strictEqual(expected.length, 24)
    const actual = series.map(({ commodity, market, metric_name, slug, spec, unit }): Line => {
      const feed = feedNamed(metricNamed.get(metric_name)?.feeds[0] ?? "")
      return { slug, commodity, spec, market, unit, report: reportOf(feed.feed), frequency: feed.frequency }
    })
    const bySlug = (a: Line, b: Line) => (a.slug < b.slug ? -1 : 1)
    assert.deepStrictEqual(actual.toSorted(bySlug), expected.toSorted(bySlug))
  })

  it("each have a metric of the same name, with underscores, in the same unit", () => {
    for (const { metric_name, slug, unit } of series) {
      assert.strictEqual(metric_name, slug.replaceAll("-", "_"))
      assert.strictEqual(metricNamed.get(metric_name)?.unit, unit === "USD/lb" ? "usd_per_lb" : "usd_per_cwt")
    }
  })

  it("are sorted by commodity in the order of the interface", () => {
    assert.deepStrictEqual(groupsInOrder, ["Butter", "Cheese", "Nonfat Dry Milk", "Dry Whey", "Milk"])
    const positions = series.map(({ commodity }) => groupsInOrder.indexOf(commodity))
    assert.deepStrictEqual(positions, positions.toSorted())
  })

  it("have the title of their report, without (PDF)", () => {
    for (const { title, feed } of feeds) {
      assert.notMatch(title, /\(PDF\)/)
      const known = titles[reportOf(feed)]
      if (known !== undefined) assert.strictEqual(title, known)
    }
  })

  it("use the price as sold for barrels, and the advanced prices for Class I", () => {
    assert.strictEqual(metricNamed.get("cheese_barrel_sales_price_weekly")?.column.name, "cheese_500_Price")
    assert.deepStrictEqual(metricNamed.get("milk_class_i_price_monthly")?.feeds, ["gov-mpr/2989/Detail"])
  })
})

describe("metrics", () => {
  it("have unique names in snake case that end in their frequency", () => {
    const names = metrics.map(({ metric_name }) => metric_name)
    assert.deepStrictEqual(findRepeated(names), [])
    for (const {
      feeds: [feed = ""],
      metric_name
    } of metrics) {
      assert.match(metric_name, /^[a-z0-9]+(_[a-z0-9]+)*$/)
      assert.isTrue(metric_name.endsWith(`_${feedNamed(feed).frequency}`), metric_name)
    }
  })

  it("come from feeds of one report and one frequency each", () => {
    for (const { feeds: names } of metrics) {
      assert.strictEqual(new Set(names.map((feed) => reportOf(feed) + feedNamed(feed).frequency)).size, 1)
    }
  })

  it("include the range and the mostly range of every regional and international report", () => {
    for (const feed of feeds.filter(({ feed }) => /^gov-mars\/10/.test(feed))) {
      const columns = feed.metrics.map(({ column }) => column.name)
      const kinds = ["price_min", "price_max", "mostly_low_price", "mostly_high_price"]
      assert.deepStrictEqual([...new Set(columns)], kinds, feed.feed)
      assert.strictEqual(columns.length % 4, 0)
    }
  })

  it("have the unit of a basis for regional butter, and for nothing else", () => {
    for (const {
      feeds: [feed = ""],
      unit
    } of metrics) {
      assert.strictEqual(unit === "usd_per_lb_basis", /1089|1090|1091/.test(feed), feed)
    }
  })

  it("are per metric ton outside of the United States, and per hundredweight for milk", () => {
    for (const { metric_name, region, unit } of metrics) {
      const isAbroad = ["europe", "oceania", "south_america"].includes(region)
      assert.strictEqual(unit === "usd_per_metric_ton", isAbroad, metric_name)
      if (metric_name.startsWith("milk_class")) assert.strictEqual(unit, "usd_per_cwt")
    }
  })

  it("all have not_stated as freight", () => {
    assert.deepStrictEqual([...new Set(metrics.map(({ freight }) => freight))], ["not_stated"])
  })

  it("select their rows by fields in reports that have several rows", () => {
    const fields = (feed: string) => [
      ...new Set(feedNamed(feed).metrics.flatMap(({ where }) => where.map(({ field }) => field)))
    ]
    assert.deepStrictEqual(fields("gov-mars/1045"), ["quality"])
    assert.deepStrictEqual(fields("gov-mars/1053"), []) // its grade drifts
    assert.deepStrictEqual(fields("gov-mars/1623"), ["region", "commodity", "package"])
  })
})

describe("feeds", () => {
  it("each have a unique name, at least one metric and a path", () => {
    assert.deepStrictEqual(findRepeated(feeds.map(({ feed }) => feed)), [])
    for (const feed of feeds) {
      assert.isNotEmpty(feed.metrics, feed.feed)
      assert.isNotEmpty(feed.paths)
    }
  })

  it("of Datamart expect the section that is in their path", () => {
    for (const { feed, paths, section, source } of feeds) {
      if (source !== "gov-mpr") continue
      assert.strictEqual(section, decodeURIComponent(paths[0]?.split("/")[1] ?? ""), feed)
      assert.notMatch(paths[0] ?? "", /[, ]/)
    }
  })

  it("are dated by trading day, printed week ending, Friday, period end or priced month", () => {
    for (const { feed, frequency, period, revision_status, source } of feeds) {
      if (reportOf(feed) === "gov-mpr/2993") {
        const field = revision_status === "final" ? "week_ending_date" : "Week Ending Date"
        assert.deepStrictEqual(period, { kind: "day", field, isExact: true })
      } else if (frequency === "monthly") {
        assert.strictEqual(period.kind, "month")
        assert.strictEqual(period.kind === "month" && period.isYearOfDay, source === "gov-mars")
      } else if (frequency === "weekly") {
        assert.deepStrictEqual(period, { kind: "friday", fields: ["report_begin_date", "report_end_date"] })
      } else {
        const field = frequency === "daily" ? "report_date" : "report_end_date"
        assert.deepStrictEqual(period, { kind: "day", field, isExact: false })
      }
    }
  })

  it("look back at least 35 days for the survey", () => {
    for (const { feed, look_back_days } of feeds)
      if (feed.startsWith("gov-mpr/2993")) assert.isAtLeast(look_back_days, 35)
  })

  const hashesOf = (textOf: typeof tableText) => parseCatalog(textOf).feeds.map(({ mapping_sha256 }) => mapping_sha256)

  it("each have a different, stable mapping hash", () => {
    const hashes = hashesOf(tableText)
    assert.strictEqual(new Set(hashes).size, feeds.length)
    assert.deepStrictEqual(
      feeds.map(({ mapping_sha256 }) => mapping_sha256),
      hashes
    )
  })

  it("change their mapping hash if one of their lines changes, but not for a text, a schedule, an end, a licence or how often it is printed", () => {
    const hashes = hashesOf(tableText)
    const changed = (table: TableName, from: string, to: string) => {
      const now = hashesOf((name) => (name === table ? tableText(name).replace(from, to) : tableText(name)))
      return feeds.flatMap(({ feed }, index) => (now[index] === hashes[index] ? [] : [feed]))
    }
    assert.deepStrictEqual(changed("metrics", "\tclose_price\t", "\tclosing_price\t"), ["gov-mars/1603"])
    assert.deepStrictEqual(changed("feeds", "\t6\t90\t", "\t6\t91\t"), ["gov-mars/1602"])
    assert.deepStrictEqual(changed("metrics", "\tcme_group", "\tpublic_domain"), [])
    assert.deepStrictEqual(changed("metrics", "\tButter, exchange spot, daily close\t", "\tButter, daily\t"), [])
    assert.deepStrictEqual(changed("feeds", "\tweekly\tFriday\t", "\tweekly\tMonday\t"), [])
    assert.deepStrictEqual(changed("feeds", "every working day, 11:00", "every working day, 11:30"), [])
    assert.deepStrictEqual(changed("metrics", "\t2025-05-31", "\t"), [])
    assert.deepStrictEqual(changed("metrics", "\tsometimes\t", "\talways\t"), [])
    assert.deepStrictEqual(changed("notes", "At 3.5% butterfat.", "At 3.5 percent butterfat."), [])
  })
})

describe("products", () => {
  it("each have a unique slug, a category path and at least one metric", () => {
    assert.deepStrictEqual(findRepeated(products.map(({ slug }) => slug)), [])
    for (const { category, slug } of products) {
      assert.match(category, /^dairy\/[a-z-]+$/)
      assert.isTrue(
        metrics.some(({ product_slug }) => product_slug === slug),
        slug
      )
    }
  })
})

describe("the README of the catalog", () => {
  const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8")
  const readme = read("./catalog/README.md")

  it.each(["feeds", "metrics", "notes", "series", "products", "texts", "known-fields"])(
    "explains every column of %s.tsv",
    (table) => {
      const [header = ""] = read(`./catalog/${table}.tsv`).split("\n")
      for (const column of header.split("\t")) assert.include(readme, `\`${column}\``)
    }
  )

  it("lists every name and value that is accepted as an alternative", () => {
    for (const { column, where } of metrics) {
      if ("names" in column.by && column.by.names.length > 1) {
        for (const name of column.by.names) assert.include(readme, `\`${name}\``)
      }
      for (const { values } of where)
        if (values.length > 1) for (const value of values) assert.include(readme, `"${value}"`)
    }
  })

  it("shows an example of a new metric that fits the tables", () => {
    const [example = ""] = /^ {4}(\S+\t.*)$/mu.exec(readme)?.slice(1) ?? []
    const [header = ""] = read("./catalog/metrics.tsv").split("\n")
    const cells = Object.fromEntries(header.split("\t").map((column, index) => [column, example.split("\t")[index]]))
    assert.strictEqual(example.split("\t").length, header.split("\t").length)
    assert.isFalse(metrics.some(({ metric_name }) => metric_name === cells.metric_name))
    assert.isTrue(products.some(({ slug }) => slug === cells.product_slug))
    assert.isNotEmpty(feedNamed(cells.feed ?? "").metrics)
  })
})
