/**
 * A made history of every feed of the catalog, from 2000 to 2026, with what really changed in that time: names of reports
 * and regions, the last day of a week, the time of publication, and the freight. Some keys stand twice in one week. Returns
 * the payloads and, found without the code under test, the prices that they state.
 */
import { catalog, type Feed } from "@larder/pipelines/commodities/catalog.ts"
import { addDays } from "@larder/schemas"
import { type Bodies, bodyOf, n, type Row } from "./commodity-payloads.ts"

const { feeds, metrics } = catalog()

/** By metric and day, as printed. */
type Prices = Map<string, Map<string, string>>

const american = (day: string) => `${day.slice(5, 7)}/${day.slice(8, 10)}/${day.slice(0, 4)}`

const listDays = (first: string, last: string, step: number) => {
  const days: Array<string> = []
  for (let day = first; day <= last; day = addDays(day, step)) days.push(day)
  return days
}

/** Changes by less than a tenth from week to week. */
const makePrice = (day: string, start: number, scale = 10_000) => {
  const week = Math.floor(Date.parse(day) / 604_800_000)
  return String(Math.round(start * (1 + 0.2 * Math.sin(week / 20)) * scale) / scale)
}

/** The rows that a report has in each period: what distinguishes them, and the beginning of their metrics' names. */
const quotes: Readonly<Record<string, ReadonlyArray<readonly [row: Row, metric: string]>>> = {
  1034: [[{ commodity: "Dry Whey" }, "dry_whey_europe"]],
  1035: [[{ commodity: "Skim Milk Powder" }, "skim_milk_powder_europe"]],
  1036: [[{ commodity: "Whole Milk Powder" }, "whole_milk_powder_europe"]],
  1038: [[{ commodity: "Skim Milk Powder" }, "skim_milk_powder_oceania"]],
  1039: [[{ commodity: "Whole Milk Powder" }, "whole_milk_powder_oceania"]],
  1041: [[{ commodity: "Skim Milk Powder" }, "skim_milk_powder_south_america"]],
  1042: [[{ commodity: "Whole Milk Powder" }, "whole_milk_powder_south_america"]],
  1043: [[{ commodity: "Dry Buttermilk" }, "dry_buttermilk_us_west"]],
  1044: [[{ commodity: "Dry Buttermilk" }, "dry_buttermilk_us_east_and_central"]],
  1045: [
    [{ commodity: "Dry Whey", quality: "Edible", grade: "Extra & Grade A" }, "dry_whey_us_central"],
    [
      { commodity: "Dry Whey", quality: "Non-Edible", lot_Desc: "Animal Feed - Milk Replacer" },
      "dry_whey_feed_us_central"
    ]
  ],
  1046: [[{ commodity: "Dry Whey", quality: "Edible" }, "dry_whey_us_west"]],
  1047: [[{ commodity: "Dry Whey", quality: "Edible" }, "dry_whey_us_east"]],
  1048: [
    [{ commodity: "Nonfat Dry Milk", lot_Desc: "Low & Medium Heat" }, "nonfat_dry_milk_low_medium_heat_us_west"],
    [{ commodity: "Nonfat Dry Milk", lot_Desc: "High Heat" }, "nonfat_dry_milk_high_heat_us_west"]
  ],
  1049: [
    [
      { commodity: "Nonfat Dry Milk", lot_Desc: "Low & Medium Heat" },
      "nonfat_dry_milk_low_medium_heat_us_east_and_central"
    ],
    [{ commodity: "Nonfat Dry Milk", lot_Desc: "High Heat" }, "nonfat_dry_milk_high_heat_us_east_and_central"]
  ],
  1050: [[{ commodity: "Dry Whole Milk" }, "dry_whole_milk_us"]],
  1051: [
    [{ commodity: "Casein", group: "Acid" }, "casein_acid_us"],
    [{ commodity: "Casein", group: "Rennet" }, "casein_rennet_us"]
  ],
  1052: [[{ commodity: "Lactose", grade: "N/A" }, "lactose_us_central_and_west"]],
  1053: [
    [{ commodity: "Whey Protein Concentrate", grade: "Extra Grade" }, "whey_protein_concentrate_34_us_central_and_west"]
  ],
  1082: [[{ commodity: "Cheese" }, "cheddar_oceania"]],
  1089: [[{ commodity: "Butter", price_unit: "Basis Pricing" }, "butter_basis_us_central"]],
  1090: [[{ commodity: "Butter", price_unit: "Basis Pricing" }, "butter_basis_us_east"]],
  1091: [[{ commodity: "Butter", price_unit: "Basis Pricing" }, "butter_basis_us_west"]],
  1098: [
    [{ commodity: "Butter", lot_Desc: "82% Butterfat" }, "butter_82_europe"],
    [{ commodity: "Butteroil", lot_Desc: "99% Butterfat" }, "butteroil_europe"]
  ],
  1099: [[{ commodity: "Butter", lot_Desc: "82% Butterfat" }, "butter_82_oceania"]]
}

const central = { names: ["Midwest", "Wisconsin", "Midwestern"], title: "Midwestern U.S." }
const east = { names: ["Northeast", "Northeastern"], title: "Northeastern U.S." }
const west = { names: ["West", "Western"], title: "Western U.S." }
/** Regions and titles until 2017. */
const olderNames: Readonly<Record<string, { readonly names: ReadonlyArray<string>; readonly title: string }>> = {
  1043: west,
  1044: central,
  1045: central,
  1046: west,
  1047: east,
  1048: west,
  1049: central,
  1051: { names: ["U.S. Imports"], title: "U.S." },
  1052: central,
  1053: central,
  1089: central,
  1090: east,
  1091: west
}
const regions: Readonly<Record<string, string>> = {
  1043: "West",
  1044: "Central/East US",
  1045: "Central",
  1046: "West",
  1047: "East",
  1048: "West",
  1049: "East and Central",
  1050: "US",
  1051: "US",
  1052: "Central and West",
  1053: "Central and West",
  1089: "Central",
  1090: "East",
  1091: "West"
}
const worldRegion = (title: string) => /- (.+)$/.exec(title)?.[1]?.replace("Europe", "West Europe") ?? ""

/** What a weekly report of a Monday states about itself, by era. */
const describeWeek = (report: string, title: string, monday: string, week: number): Row => {
  const older = olderNames[report]
  const isOld = monday < "2018-02-12"
  const endsOnMonday = monday >= "2018-02-12" && monday < "2023-01-01"
  return {
    slug_id: Number(report),
    slug_name: isOld ? "MD_DA850" : `AMS_${report}`,
    report_title: isOld && older ? `${title.replace(/- .*/, "")}- ${older.title}` : title,
    region: isOld && older ? older.names[week % older.names.length] : regions[report],
    report_begin_date: american(monday),
    report_end_date: american(endsOnMonday ? monday : addDays(monday, 4)),
    report_date: american(monday),
    published_date: isOld
      ? `${american(monday)} 00:00:00`
      : `${american(addDays(monday, endsOnMonday ? 2 : 3))} 12:20:53`,
    freight: endsOnMonday ? "Delivered" : "",
    sale_type: endsOnMonday ? "Wholesale" : "N/A",
    organic: "N/A",
    origin: "NA",
    price_unit: "Dollars per Pound"
  }
}

const put = (prices: Prices, metric: string, day: string, value: string) => {
  const days = prices.get(metric) ?? new Map<string, string>()
  prices.set(metric, days.set(day, value))
}

const columns = { price_min: 0.97, price_max: 1.05, mostly_low_price: 0.99, mostly_high_price: 1.02 }
const metricPart = {
  price_min: "price_min",
  price_max: "price_max",
  mostly_low_price: "mostly_low",
  mostly_high_price: "mostly_high"
}

const makeQuotes = (feed: Feed, prices: Prices): ReadonlyArray<Row> => {
  const report = feed.feed.split("/")[1] ?? ""
  const isWeekly = feed.frequency === "weekly"
  const start = feed.metrics.some(({ unit }) => unit === "usd_per_metric_ton") ? 2000 : 1.2
  const days = isWeekly ? listDays("2000-01-03", "2026-09-21", 7) : listDays("2000-01-07", "2026-09-25", 14)
  return days.flatMap((day, period) =>
    (quotes[report] ?? []).flatMap(([row, metric], place) => {
      const about: Row = isWeekly
        ? describeWeek(report, feed.title, day, period)
        : {
            slug_id: Number(report),
            slug_name: `AMS_${report}`,
            report_title: feed.title,
            region: worldRegion(feed.title),
            report_begin_date: american(addDays(day, -11)),
            report_end_date: american(day),
            report_date: american(addDays(day, -11)),
            published_date: `${american(addDays(day, -1))} 12:20:53`,
            price_unit: "Dollars per Metric Ton"
          }
      const values = Object.entries(columns).map(
        ([column, factor]) => [column, makePrice(day, start * factor + place)] as const
      )
      const cells = Object.fromEntries(values.map(([column, value]) => [column, n(value)]))
      const made: Row = { ...about, ...cells, ...row }
      const observed_on = isWeekly ? addDays(day, 4) : day
      const isContradicted = isWeekly && day < "2010" && period % 104 === 20
      if (!isContradicted) {
        for (const [column, value] of values) {
          const part = metricPart[column as keyof typeof columns] // entries of `columns`
          put(prices, `${metric}_${part}_${feed.frequency}`, observed_on, value)
        }
      }
      const double = period % 50 === 7 ? [made] : []
      const contradiction = isContradicted ? [{ ...made, price_min: n("0.5") }] : []
      return [made, ...double, ...contradiction]
    })
  )
}

const spot: ReadonlyArray<readonly [row: Row, metric: string]> = [
  [{ commodity: "Butter", grade: "Grade AA", package: null }, "butter"],
  [{ commodity: "Cheese", grade: null, package: "40 pound Block" }, "cheese_block"],
  [{ commodity: "Cheese", grade: null, package: "Barrels" }, "cheese_barrel"],
  [{ commodity: "Nonfat Dry Milk", grade: "Grade A", package: null }, "nonfat_dry_milk"],
  [{ commodity: "Dry Whey", grade: "Extra Grade", package: null }, "dry_whey"]
]

const makeCloses = (prices: Prices): ReadonlyArray<Row> =>
  listDays("2000-01-03", "2026-09-29", 1)
    .filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
    .flatMap((day) =>
      spot.map(([row, metric], place) => {
        const value = (Math.round(Number(makePrice(day, 1 + place)) * 400) / 400).toFixed(4)
        put(prices, `${metric}_exch_spot_close_daily`, day, value)
        const about = { slug_id: 1603, slug_name: "AMS_1603", published_date: `${american(day)} 10:57:04` }
        return { ...about, report_date: american(day), report_begin_date: american(day), ...row, close_price: n(value) }
      })
    )

const makeWeeklyAverages = (prices: Prices): ReadonlyArray<Row> =>
  listDays("2000-01-03", "2026-09-21", 7).flatMap((monday, week) =>
    spot.map(([row, metric], place) => {
      const value = makePrice(monday, 1 + place)
      put(prices, `${metric}_exch_spot_average_weekly`, addDays(monday, 4), value)
      return {
        slug_id: 1602,
        slug_name: week < 900 ? "MD_DA998" : "AMS_1602",
        report_date: american(monday),
        report_begin_date: american(monday),
        report_end_date: american(addDays(monday, 4)),
        published_date: `${american(addDays(monday, 4))} 11:08:00`,
        ...row,
        "weekly Av": n(value)
      }
    })
  )

const months = "January February March April May June July August September October November December".split(" ")
const listMonths = () =>
  Array.from({ length: 27 }, (_, index) => 2000 + index)
    .flatMap((year) =>
      months.map((name, month) => ({
        year,
        month: month + 1,
        name,
        day: `${year}-${String(month + 1).padStart(2, "0")}-01`
      }))
    )
    .filter(({ day }) => day <= "2026-08-01")

/** Each report repeats the months of its year. */
const makeMonthlyAverages = (prices: Prices): ReadonlyArray<Row> =>
  listMonths().flatMap((report) =>
    listMonths()
      .filter(({ day, year }) => year === report.year && day <= report.day)
      .flatMap(({ day, name }) =>
        spot.map(([row, metric], place) => {
          const value = makePrice(day, 1 + place)
          put(prices, `${metric}_exch_spot_average_monthly`, day, value)
          return {
            slug_id: 1623,
            slug_name: "AMS_1623",
            region: "Chicago Mercantile Exchange",
            report_begin_date: `01/01/${report.year}`,
            report_end_date: american(addDays(addDays(report.day, 32).replace(/\d\d$/, "01"), -1)),
            published_date: `${american(addDays(report.day, 41))} 10:22:13`,
            report_month: name,
            ...row,
            "monthly Av": n(value)
          }
        })
      )
  )

const survey: ReadonlyArray<readonly [beginning: string, column: string, metric: string]> = [
  ["Butter", "Butter_Price", "butter"],
  ["40", "cheese_40_Price", "cheese_block"],
  ["500", "cheese_500_Price", "cheese_barrel"],
  ["Dry", "whey_Price", "dry_whey"],
  ["Nonfat", "nonfat_milk_Price", "nonfat_dry_milk"]
]

/** Rolling sections restate four weeks. */
const makeSurvey = ({ revision_status, section }: Feed, prices: Prices): ReadonlyArray<Row> => {
  const isFinal = revision_status === "final"
  const [, column = "", metric = ""] = survey.find(([start]) => section.replace("Final ", "").startsWith(start)) ?? []
  return listDays("2000-01-08", "2026-09-26", 7).flatMap((report, index) =>
    [0, 7, 14, 21, 28].slice(0, isFinal ? 1 : Math.min(5, index + 1)).map((back) => {
      const week = addDays(report, -back)
      const value = Number(makePrice(week, 1.5)).toFixed(4)
      put(prices, `${metric}_sales_price_weekly`, week, value)
      return {
        slug_id: "2993",
        slug_name: "DYWDAIRYPRODUCTSSALES",
        report_title: "National Dairy Products Sales Report (PDF)",
        week_ending_date: american(report),
        ...(isFinal ? {} : { "Week Ending Date": american(week) }),
        published_date: `${american(addDays(report, isFinal ? 33 : 4))} 13:04:36`,
        [column]: value
      }
    })
  )
}

const makeClassPrices = (prices: Prices): ReadonlyArray<Row> =>
  listMonths().map(({ day, month, name, year }) => {
    const values = Object.fromEntries(
      ["ii", "iii", "iv"].map((roman, place) => {
        const value = Number(makePrice(day, 15 + place, 100)).toFixed(2)
        put(prices, `milk_class_${roman}_price_monthly`, day, value)
        return [`class_${place + 2}_Price`, value]
      })
    )
    return {
      slug_id: "2991",
      slug_name: "DYMCLASSPRICES",
      report_title: "Announcement of Class and Component Prices (PDF)",
      week_ending_date: american(addDays(day, 31)),
      report_year: String(year),
      report_month: month % 2 === 0 ? name.slice(0, 3) : name,
      published_date: `${american(addDays(day, 35))} 13:04:36`,
      ...values
    }
  })

/** Announced in the month before; the month column names the one or the other. */
const makeAdvancedPrices = (prices: Prices): ReadonlyArray<Row> =>
  listMonths().map(({ day, month, name, year }) => {
    const value = Number(makePrice(day, 18, 100)).toFixed(2)
    put(prices, "milk_class_i_price_monthly", day, value)
    const announced = addDays(day, -12)
    const namesAnnouncement = year < 2005
    return {
      slug_id: "2989",
      slug_name: "DYMADVANCEDPRICES",
      report_title: "Announcement of Advanced Prices and Pricing Factors (PDF)",
      week_ending_date: american(addDays(day, -15)),
      report_year: namesAnnouncement ? announced.slice(0, 4) : String(year),
      report_month: namesAnnouncement ? months[(month + 10) % 12] : name,
      published_date: `${american(announced)} 13:04:11`,
      class_1_Price: value
    }
  })

const makeRows = (feed: Feed, prices: Prices): ReadonlyArray<Row> => {
  switch (feed.feed.split("/")[1]) {
    case "1603":
      return makeCloses(prices)
    case "1602":
      return makeWeeklyAverages(prices)
    case "1623":
      return makeMonthlyAverages(prices)
    case "2993":
      return makeSurvey(feed, prices)
    case "2991":
      return makeClassPrices(prices)
    case "2989":
      return makeAdvancedPrices(prices)
    default:
      return makeQuotes(feed, prices)
  }
}

export const makeHistory = (): { readonly bodies: Bodies; readonly prices: Prices } => {
  const prices: Prices = new Map()
  const bodies = Object.fromEntries(feeds.map((feed) => [feed.feed, bodyOf(feed, makeRows(feed, prices))]))
  return { bodies, prices }
}

/** Metrics of columns that the made reports do not have. */
export const metricsWithoutHistory = (prices: Prices) =>
  metrics.map(({ metric_name }) => metric_name).filter((name) => !prices.has(name))
