import { assert, describe, it } from "@effect/vitest"
import { assembleCatalog, bundledLines } from "../catalog.ts"
import { FeedLine, MetricLine, ProductLine } from "./lines.ts"
import { addOwnLines } from "./own-lines.ts"

const aFeed = {
  feed: "gov-mars/9001",
  title: "Cream - Midwest U.S.",
  path: "9001",
  frequency: "weekly",
  ending_weekday: "Friday",
  publishes_on: "Thursday of the same week, 12:30",
  period: "report_end_date",
  window_field: "report_begin_date",
  window_reach_days: "6",
  look_back_days: "90",
  states: "slug_name=AMS_9001"
}
const aMetric = {
  metric_name: "cream_price_weekly",
  title: "Cream, weekly",
  product_slug: "cream",
  feed: "gov-mars/9001",
  column: "price_min",
  printed: "always",
  unit: "usd_per_lb",
  region: "us_midwest",
  market_level: "wholesale",
  freight: "not_stated",
  licence: "public_domain"
}
const aProduct = { slug: "cream", category: "dairy/cream", description: "Cream." }

type Line = Readonly<Record<string, string>>
const table = (columns: ReadonlyArray<string>, lines: ReadonlyArray<Line>) =>
  [columns, ...lines.map((line) => columns.map((column) => line[column] ?? ""))].map((row) => row.join("\t")).join("\n")

interface Tables {
  readonly feeds?: ReadonlyArray<Line>
  readonly metrics?: ReadonlyArray<Line>
  readonly products?: ReadonlyArray<Line>
}
const addLines = ({ feeds = [aFeed], metrics = [aMetric], products = [aProduct] }: Tables) =>
  addOwnLines(bundledLines(), "own", {
    faults: [],
    files: {
      feeds: { file: "feeds.tsv", text: table([...Object.keys(FeedLine.fields), "off"], feeds) },
      metrics: { file: "metrics.tsv", text: table(Object.keys(MetricLine.fields), metrics) },
      products: { file: "products.tsv", text: table(Object.keys(ProductLine.fields), products) }
    }
  })
const faultsOf = (tables: Tables) => addLines(tables).faults.map(({ fault }) => fault)

describe("an own catalog", () => {
  it("adds a feed, a metric and a product", () => {
    const { faults, lines, own } = addLines({})
    assert.deepStrictEqual(faults, [])
    assert.deepStrictEqual(own.metrics[0]?.metric_name, "cream_price_weekly")
    const catalog = assembleCatalog(lines, { own: new Set(["gov-mars/9001"]), off: new Set() })
    const feed = catalog.feedsByName.get("gov-mars/9001")
    assert.deepInclude(feed, { isOwn: true, isOff: false, paths: ["9001"] })
    assert.strictEqual(feed?.metrics.length, 1)
  })

  it("changes only the mapping of the feed to which it adds a name", () => {
    const added = { feed: "gov-mars/1044", states: "region=Upper Midwest; report_title=Buttermilk" }
    const { faults, lines } = addLines({ feeds: [added], metrics: [], products: [] })
    assert.deepStrictEqual(faults, [])
    const [before, after] = [assembleCatalog(bundledLines()), assembleCatalog(lines)]
    const changed = after.feeds.filter(
      ({ feed, mapping_sha256 }) => before.feedsByName.get(feed)?.mapping_sha256 !== mapping_sha256
    )
    assert.deepStrictEqual(
      changed.map(({ feed }) => feed),
      ["gov-mars/1044"]
    )
    const values = Object.fromEntries(changed[0]?.states.map((state) => [state.field, state.values]) ?? [])
    assert.include(values.region ?? [], "Upper Midwest")
    assert.include(values.region ?? [], "Central")
    assert.include(values.report_title ?? [], "Buttermilk")
  })

  it("switches a feed off without a change of its mapping", () => {
    const { lines, own } = addLines({ feeds: [{ feed: "gov-mars/1041", off: "off" }], metrics: [], products: [] })
    assert.deepStrictEqual(own.off, ["gov-mars/1041"])
    const [before, after] = [assembleCatalog(bundledLines()), assembleCatalog(lines)]
    assert.deepStrictEqual(
      after.feeds.map(({ mapping_sha256 }) => mapping_sha256),
      before.feeds.map(({ mapping_sha256 }) => mapping_sha256)
    )
  })
})

describe("a fault of an own catalog", () => {
  const bundled = bundledLines()
  it.each<readonly [string, Tables, ReadonlyArray<RegExp>]>([
    [
      "a whole line of a bundled feed",
      { feeds: [aFeed, { ...aFeed, feed: "gov-mars/1044" }] },
      [/^feeds\.tsv, line 3, column feed: gov-mars\/1044 is a feed of the bundle: .*Empty title, path, frequency/]
    ],
    [
      "a line of a bundled feed without a change",
      { feeds: [aFeed, { feed: "gov-mars/1044" }] },
      [/^feeds\.tsv, line 3, column states: it changes nothing/]
    ],
    [
      "a new condition of a bundled feed",
      { feeds: [aFeed, { feed: "gov-mars/1603", states: "region=Midwest" }] },
      [/^feeds\.tsv, line 3, column states: the bundle does not compare region .* report_title, slug_name\.$/]
    ],
    [
      "a mistyped bundled feed",
      { feeds: [aFeed, { feed: "gov-mars/l044", off: "off" }] },
      [/^feeds\.tsv, line 3, column feed: gov-mars\/l044 is not a feed of the bundle.*Did you mean gov-mars\/1044\?$/]
    ],
    [
      "names of the bundle",
      {
        metrics: [
          { ...aMetric, metric_name: "butter_exch_spot_average_weekly", title: "Butter, survey, weekly average" }
        ],
        products: [aProduct, { ...aProduct, slug: "butter" }]
      },
      [
        /^metrics\.tsv, line 2, column metric_name: butter_exch_spot_average_weekly is a metric of the bundle/,
        /^metrics\.tsv, line 2, column title: .* is a title of the bundle/,
        /^products\.tsv, line 2, column slug: no line|^products\.tsv, line 3, column slug: butter is a product/
      ]
    ],
    [
      "names twice",
      { feeds: [aFeed, aFeed], metrics: [aMetric, aMetric], products: [aProduct, aProduct] },
      [
        /^feeds\.tsv, line 3, column feed: gov-mars\/9001 is already in line 2/,
        /^metrics\.tsv, line 3, column metric_name: .* already in line 2/,
        /^metrics\.tsv, line 3, column title: .* already in line 2/,
        /^products\.tsv, line 3, column slug: cream is already in line 2/
      ]
    ],
    [
      "a name without the frequency, and an unknown feed and product",
      {
        feeds: [aFeed],
        metrics: [
          { ...aMetric, metric_name: "cream_price" },
          { ...aMetric, metric_name: "milk_weekly", title: "Milk", feed: "gov-mars/9002", product_slug: "milk" }
        ]
      },
      [
        /^metrics\.tsv, line 2, column metric_name: it must end in _weekly/,
        /^metrics\.tsv, line 3, column product_slug: milk is not in products\.tsv/,
        /^metrics\.tsv, line 3, column feed: gov-mars\/9002 is not in feeds\.tsv/
      ]
    ],
    [
      "a feed and a product without a metric",
      { metrics: [] },
      [
        /^feeds\.tsv, line 2, column feed: no line of metrics\.tsv names it/,
        /^products\.tsv, line 2, column slug: no line of metrics\.tsv names it/
      ]
    ],
    [
      "cells of one line that contradict each other",
      {
        feeds: [
          { ...aFeed, path: "9002", period: "friday of report_begin_date", publishes_on: "every working day, 11:00" }
        ],
        metrics: [{ ...aMetric, column: "price_min | ", where: "region" }]
      },
      [
        /^feeds\.tsv, line 2, column path: it must begin with 9001/,
        /^feeds\.tsv, line 2, column publishes_on: weekly reports publish/,
        /^feeds\.tsv, line 2, column period: /,
        /^metrics\.tsv, line 2, column where: it has a condition/,
        /^metrics\.tsv, line 2, column column: it names no column/
      ]
    ],
    [
      "a path that leads to another report",
      { feeds: [{ ...aFeed, path: "9001/%2E%2e/1603" }] },
      [/^feeds\.tsv, line 2, column path: it must begin with 9001/]
    ],
    [
      "a section that is not in the path",
      {
        feeds: [{ ...aFeed, feed: "gov-mpr/2993/Cream", path: "2993/Cream%20Prices", section: "Cream" }],
        metrics: [{ ...aMetric, feed: "gov-mpr/2993/Cream" }]
      },
      [/^feeds\.tsv, line 2, column section: it must be the section in the path/]
    ],
    ["no line at all", { feeds: [], metrics: [], products: [] }, [/^own: its files have no line/]],
    [
      "every feed off",
      {
        feeds: bundled.feeds.map(({ row: { feed } }) => ({ feed, off: "off" })),
        metrics: [],
        products: []
      },
      [/^own: it switches every feed off/]
    ]
  ])("is reported: %s", (_, tables, patterns) => {
    const faults = faultsOf(tables)
    assert.lengthOf(faults, patterns.length, faults.join("\n"))
    for (const [index, pattern] of patterns.entries()) assert.match(faults[index] ?? "", pattern)
  })

  it("in one line or table is not repeated for lines that name it", () => {
    assert.deepStrictEqual(
      faultsOf({ feeds: [{ ...aFeed, frequency: "yearly" }], products: [{ ...aProduct, category: "Dairy" }] }).map(
        (fault) => fault.split(":")[0]
      ),
      ["feeds.tsv, line 2, column frequency", "products.tsv, line 2, column category"]
    )
    const { faults } = addOwnLines(bundled, "own", {
      faults: [],
      files: {
        feeds: { file: "feeds.tsv", text: table(Object.keys(FeedLine.fields), [aFeed]) },
        metrics: { file: "metrics.tsv", text: "metric_name\ttitle\nx_weekly\tX\n" },
        products: { file: "products.tsv", text: table(Object.keys(ProductLine.fields), [aProduct]) }
      }
    })
    assert.isTrue(faults.every(({ file, line }) => file === "metrics.tsv" && line === 1))
    assert.isNotEmpty(faults)
  })
})
