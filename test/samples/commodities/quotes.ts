/**
 * Quotes of regional and international reports: the columns that distinguish rows, and the level around which ranges
 * move. Levels are invented (one per 1 January, 2021 to 2027) or follow the sales survey.
 */
import type { Day } from "./calendar.ts"
import { parseDay } from "./calendar.ts"
import type { MarsRow } from "./mars.ts"
import { interpolate, makeAnchorLine, makeYearlyAnchors } from "./paths.ts"
import { getFinalPrint, type SurveyWeek } from "./prints.ts"
import type { Surveys } from "./survey.ts"

export type PriceUnit = "Dollars per Pound" | "Dollars per Metric Ton" | "Basis Pricing"

export interface Quote {
  readonly slug: number
  /** Weeks between two reports. */
  readonly every: 1 | 2
  readonly unit: PriceUnit
  readonly columns: MarsRow
  /** `grade`, if it changes over time. */
  readonly gradeOn?: (end: Day) => string
  /** In 0.0001 USD/lb, or whole USD per metric ton. */
  readonly level: (day: Day) => number
  /** Prices are multiples of this. */
  readonly step: number
  /** Largest distance of a bound from the level, in steps. */
  readonly reach: number
  /** Size of the noise around the level. */
  readonly noise: number
  /** Minimum and maximum price; a basis may be negative. */
  readonly bounds: readonly [low: number, high: number]
  /** Probability that a row has a mostly range. */
  readonly mostly: number
  /** Weeks without a row. */
  readonly silentWeeks?: ReadonlySet<Day>
}

const empty = {
  group: null,
  category: null,
  community: "Dairy",
  commodity: null,
  region: null,
  grade: null,
  other_Grades: null,
  quality: null,
  application: null,
  lot_Desc: null,
  package: null
} satisfies MarsRow

const quotePerTon = (
  slug: number,
  columns: MarsRow,
  levels: ReadonlyArray<number>,
  [reach, noise]: readonly [number, number]
): Quote => ({
  slug,
  every: 2,
  unit: "Dollars per Metric Ton",
  columns: { ...empty, ...columns },
  level: makeAnchorLine(makeYearlyAnchors(2021, levels), 1),
  step: 25,
  reach,
  noise,
  bounds: [500, 12_000],
  mostly: 0
})

interface PoundOptions {
  readonly step?: number
  readonly reach: number
  readonly noise: number
  readonly mostly: number
}

const quotePerPound = (slug: number, columns: MarsRow, level: (day: Day) => number, options: PoundOptions): Quote => ({
  slug,
  every: 1,
  unit: "Dollars per Pound",
  columns: { ...empty, category: "Dry Product", ...columns },
  level,
  step: options.step ?? 100,
  reach: options.reach,
  noise: options.noise,
  bounds: [1000, 60_000],
  mostly: options.mostly
})

/** Cents above or below the spot market, not a price. */
const quoteBasis = (
  slug: number,
  region: string,
  bounds: readonly [number, number],
  silentWeeks: ReadonlyArray<string>
): Quote => ({
  slug,
  every: 1,
  unit: "Basis Pricing",
  columns: { ...empty, category: "Soft Product", commodity: "Butter", region, grade: "Grade AA", package: "Bulk" },
  level: () => (bounds[0] + bounds[1]) / 2,
  step: 100,
  reach: 4,
  noise: 250,
  bounds,
  mostly: 0,
  silentWeeks: new Set(silentWeeks.map(parseDay))
})

const makeCentsLine = (levels: ReadonlyArray<number>) => makeAnchorLine(makeYearlyAnchors(2021, levels), 100)

/** Regional prices run two weeks ahead of the survey of sales. */
const followSurvey = (survey: ReadonlyArray<SurveyWeek>, factor: number) => {
  const line = interpolate(
    survey.flatMap((week) => {
      const final = getFinalPrint(week)
      return final ? [[week.week, final.price] as const] : []
    })
  )
  return (day: Day) => line(day + 14) * factor
}

/** Seven of the eight weeks from 2026-01-30 to 03-20 had an empty grade. */
const getDriftingGrade = (end: Day) =>
  end >= parseDay("2026-01-30") && end <= parseDay("2026-03-20") && end !== parseDay("2026-02-20") ? "" : "Extra Grade"

const european = { category: "Dry Product", region: "West Europe" }
const oceanian = { category: "Dry Product", region: "Oceania" }
const southAmerican = { category: "Dry Product", region: "South America" }

const international: ReadonlyArray<Quote> = [
  quotePerTon(1034, { ...european, commodity: "Dry Whey" }, [950, 1300, 880, 850, 960, 1150, 1200], [3, 60]),
  quotePerTon(
    1035,
    { ...european, commodity: "Skim Milk Powder" },
    [2650, 3850, 2850, 2650, 2600, 2450, 2800],
    [5, 110]
  ),
  quotePerTon(
    1036,
    { ...european, commodity: "Whole Milk Powder" },
    [3350, 4650, 3950, 4050, 4500, 3700, 3750],
    [7, 130]
  ),
  quotePerTon(
    1038,
    { ...oceanian, commodity: "Skim Milk Powder" },
    [3000, 3850, 3000, 2600, 2750, 2650, 2850],
    [5, 110]
  ),
  quotePerTon(
    1039,
    { ...oceanian, commodity: "Whole Milk Powder" },
    [3350, 4000, 3250, 3250, 3950, 3400, 3600],
    [5, 120]
  ),
  quotePerTon(
    1041,
    { ...southAmerican, commodity: "Skim Milk Powder" },
    [2900, 3700, 3250, 2850, 3000, 2800, 2900],
    [7, 110]
  ),
  quotePerTon(
    1042,
    { ...southAmerican, commodity: "Whole Milk Powder" },
    [3200, 3850, 3600, 3450, 3900, 3600, 3650],
    [8, 120]
  ),
  quotePerTon(
    1082,
    { category: "Hard Product", region: "Oceania", commodity: "Cheese", lot_Desc: "39% Maximum Moisture" },
    [4100, 5400, 4900, 4200, 4750, 4600, 4500],
    [7, 130]
  ),
  quotePerTon(
    1098,
    { category: "Soft Product", region: "West Europe", commodity: "Butter", lot_Desc: "82% Butterfat" },
    [4100, 6700, 4900, 6200, 7650, 4950, 4600],
    [12, 220]
  ),
  quotePerTon(
    1098,
    { category: "Soft Product", region: "West Europe", commodity: "Butteroil", lot_Desc: "99% Butterfat" },
    [4900, 7000, 5600, 6600, 9300, 9200, 6200],
    [9, 220]
  ),
  quotePerTon(
    1099,
    { category: "Soft Product", region: "Oceania", commodity: "Butter", lot_Desc: "82% Butterfat" },
    [4400, 6200, 4750, 5700, 6900, 5700, 5800],
    [9, 200]
  )
]

const listPowders = (survey: Surveys): ReadonlyArray<Quote> => {
  const powder = (factor: number) => followSurvey(survey.nonfatDryMilk, factor)
  const whey = (factor: number) => followSurvey(survey.whey, factor)
  const narrow = { step: 25, reach: 28, noise: 250, mostly: 0.92 }
  const food = { reach: 8, noise: 200, mostly: 0.95 }
  const edible = { grade: "Extra & Grade A", quality: "Edible", lot_Desc: "Non-Hygroscopic" }
  const feed = { grade: "", quality: "Non-Edible", lot_Desc: "Animal Feed - Milk Replacer" }
  return [
    quotePerPound(1043, { commodity: "Dry Buttermilk", region: "West" }, powder(0.97), narrow),
    quotePerPound(1044, { commodity: "Dry Buttermilk", region: "Central/East US" }, powder(1), {
      ...narrow,
      mostly: 0.4
    }),
    quotePerPound(1045, { commodity: "Dry Whey", region: "Central", ...edible }, whey(0.99), food),
    quotePerPound(
      1045,
      { commodity: "Dry Whey", region: "Central", ...feed },
      makeCentsLine([32, 44, 28, 34, 43, 36, 37]),
      {
        ...food,
        reach: 3,
        mostly: 0
      }
    ),
    quotePerPound(1046, { commodity: "Dry Whey", region: "West", ...edible }, whey(1.03), food),
    quotePerPound(1047, { commodity: "Dry Whey", region: "East", ...edible }, whey(1.01), food),
    quotePerPound(1048, { commodity: "Nonfat Dry Milk", region: "West", lot_Desc: "High Heat" }, powder(1.08), {
      ...narrow,
      mostly: 0
    }),
    quotePerPound(
      1048,
      { commodity: "Nonfat Dry Milk", region: "West", lot_Desc: "Low & Medium Heat" },
      powder(1.01),
      narrow
    ),
    quotePerPound(
      1049,
      { commodity: "Nonfat Dry Milk", region: "Central/East US", lot_Desc: "High Heat" },
      powder(1.1),
      {
        ...narrow,
        mostly: 0
      }
    ),
    quotePerPound(
      1049,
      { commodity: "Nonfat Dry Milk", region: "Central/East US", lot_Desc: "Low & Medium Heat" },
      powder(1.03),
      narrow
    )
  ]
}

const proteins: ReadonlyArray<Quote> = [
  quotePerPound(
    1050,
    { commodity: "Dry Whole Milk", region: "US" },
    makeCentsLine([180, 215, 235, 210, 225, 215, 225]),
    {
      step: 25,
      reach: 60,
      noise: 500,
      mostly: 0
    }
  ),
  ...(["Acid", "Rennet"] as const).map((group, index) =>
    quotePerPound(
      1051,
      { group, commodity: "Casein", region: "US" },
      makeCentsLine(index === 0 ? [370, 560, 520, 370, 395, 400, 410] : [360, 540, 560, 400, 415, 420, 430]),
      { reach: 14, noise: 700, mostly: 0 }
    )
  ),
  quotePerPound(
    1052,
    { commodity: "Lactose", region: "Central and West", grade: "N/A" },
    makeCentsLine([42, 45, 35, 22, 34, 52, 72]),
    { reach: 7, noise: 100, mostly: 0.96 }
  ),
  {
    ...quotePerPound(
      1053,
      { commodity: "Whey Protein Concentrate", region: "Central and West" },
      makeCentsLine([95, 170, 150, 95, 140, 185, 225]),
      { reach: 45, noise: 500, mostly: 0.96 }
    ),
    gradeOn: getDriftingGrade
  }
]

export const listQuotes = (survey: Surveys): ReadonlyArray<Quote> => [
  ...international,
  ...listPowders(survey),
  ...proteins,
  quoteBasis(1089, "Central", [-400, 1200], ["2025-06-27", "2025-07-04"]),
  quoteBasis(1090, "East", [-200, 1000], []),
  quoteBasis(1091, "West", [-1200, 700], [])
]
