import { assert } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLabel, type Label, toCsvRows, writeCsv, writeJson } from "@larder/test/support/label-releases.ts"
import { compareWithGolden } from "@larder/test/support/pipelines/golden.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { brandedFood, stage } from "@larder/warehouse"
import { Effect, FileSystem, Schema } from "effect"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { labelMappingHash } from "./mapping-hash.ts"
import { labelMappingVersion } from "./mapping-version.ts"
import { formFeed, type ReleaseForm } from "./source/fetch-release.ts"
import { loadForms } from "./stage/load-forms.ts"

const protein = { nutrient_id: 1003, amount: "3.3333333" }

/** Each label has a different oddity of the source, in both forms if both can state it. */
const labels: ReadonlyArray<Label> = [
  aLabel({
    fdc_id: 1001,
    description: '  ROLLED \u00a0 OATS, ""OLD FASHIONED"" ',
    brand_owner: "NOT A BRANDED ITEM",
    brand_name: "[[Mill]] & Sons",
    subbrand_name: " ",
    short_description: "OATS\tROLLED",
    gtin_upc: "0-12345 67890-5",
    ingredients: "WHOLE GRAIN OATS,\nSALT.",
    serving_size: "1.7999999523",
    serving_size_unit: "GRM",
    household_serving_fulltext: "1/2 cup (40 g)",
    branded_food_category: "Cereal",
    package_weight: "18 oz/510 g",
    publication_date: "4/24/2025",
    modified_date: "2025-04-01",
    available_date: "2025-04-24",
    discontinued_date: "2026-01-31",
    market_country: "United States",
    trade_channels: ["MASS_MERCHANDISING", "GROCERY", "GROCERY", "NO_TRADE_CHANNEL"],
    preparation_state_code: "ready_to_eat",
    gpc_class_code: "50161800.0",
    nutrients: [
      protein,
      { nutrient_id: 1008, amount: "379", percent_daily_value: "19" },
      { nutrient_id: 1004, amount: "6.5", derivation: "LCSL" },
      { nutrient_id: 1004, amount: "6.7", derivation: "LCCS" },
      { nutrient_id: 1004, amount: "6.6", derivation: "LCGE" },
      { nutrient_id: 1004, amount: "", derivation: "LCGE" },
      { nutrient_id: 1110, amount: "" }
    ],
    attributes: [
      { name: " Added  Package Weight ", value: "18 oz" },
      { name: "", value: "[[kept]]" }
    ],
    not_a_significant_source_of: " trans  fat ",
    caffeine_statement: "Contains no caffeine",
    footnote: "* Percent Daily Values",
    label_nutrients: { calories: "150", fat: "2.5", addedSugar: "0", vitaminD: "4.00E+1" },
    update_log: [
      [901, "2019-04-01"],
      [1001, "4/24/2025"],
      [902, "someday"]
    ]
  }),
  aLabel({
    fdc_id: 1002,
    description: "COLA",
    gtin_upc: "12345678901232",
    serving_size: "0",
    serving_size_unit: "MG",
    household_serving_fulltext: "1 BOTTLE",
    branded_food_category: "1234",
    food_category_id: "Soda",
    market_country: "u.s.",
    gpc_class_code: "1.5",
    nutrients: [
      { nutrient_id: 1005, amount: "10" },
      { nutrient_id: 2000, amount: "30" },
      { nutrient_id: 1008, amount: "906" },
      { nutrient_id: 1093, amount: "-1" },
      { nutrient_id: 1087, amount: "120000000" }
    ]
  }),
  aLabel({
    fdc_id: 1003,
    description: "FLOUR",
    gtin_upc: "MADE HERE",
    serving_size: "30.5",
    serving_size_unit: "IU",
    branded_food_category: "Flours",
    market_country: "Deutschland",
    nutrients: [
      { nutrient_id: 9901, amount: "1", described: { number: "99.1", name: "Newtrient", unitName: "UG" } },
      { nutrient_id: 1003, amount: "60" },
      { nutrient_id: 1004, amount: "30" },
      { nutrient_id: 1005, amount: "30" }
    ]
  }),
  aLabel({ fdc_id: 1004, description: "MILK", serving_size: "240", serving_size_unit: "MLT", market_country: "de" }),
  aLabel({ fdc_id: 1005, description: "TEA", serving_size: "2", serving_size_unit: "bag", market_country: "UK" }),
  aLabel({ fdc_id: 1001, description: "ANOTHER LABEL WITH THE FIRST ID" }),
  aLabel({ fdc_id: 1006, description: "", nutrients: [protein] }),
  aLabel({ fdc_id: 1007, publication_date: "13/32/2020", serving_size: "-1" }),
  aLabel({ fdc_id: 1008, modified_date: "1899-12-31" }),
  aLabel({ fdc_id: 1009, label_nutrients: {} }),
  aLabel({
    fdc_id: 1011,
    brand_owner: "NA",
    gtin_upc: "NULL",
    publication_date: "4/24/2025 12:00:00 AM",
    available_date: "2025-04-24T00:00:00",
    modified_date: "2025-04-01 23:30:00+02:00",
    discontinued_date: "9999-12-31",
    serving_size: "30",
    serving_size_unit: "n/a",
    package_weight: "-"
  })
]
const onlyInJson = [
  aLabel({ fdc_id: 1010, description: "CRACKERS" }),
  aLabel({
    fdc_id: 1012,
    description: "RUSKS",
    nutrients: [
      { nutrient_id: 1008, amount: "1393", described: { number: "208", name: "Energy", unitName: "kJ" } },
      { nutrient_id: 1093, amount: "0.1", described: { number: "307", name: "Sodium, Na", unitName: "G" } },
      { nutrient_id: 999_999, amount: "5" }
    ]
  })
]
const onlyInCsv = aLabel({ fdc_id: 901, description: "OATS", publication_date: "2019-04-01" })

/** Extra rows of the CSV form: another kind of food, and amounts that are unreadable or belong to no label. */
const csvRows = () => {
  const rows = toCsvRows([...labels, onlyInCsv])
  const amount = { id: "1", nutrient_id: "1003", amount: "1", derivation_id: "70", percent_daily_value: "" }
  return {
    ...rows,
    food: [...rows.food, { fdc_id: "2001", data_type: "sub_sample_food", description: "SAMPLE", publication_date: "" }],
    food_nutrient: [
      ...rows.food_nutrient,
      { ...amount, fdc_id: "2001" },
      { ...amount, fdc_id: "2002" },
      { ...amount, fdc_id: "1004", amount: "much" },
      { ...amount, fdc_id: "1005", derivation_id: "1.5" }
    ]
  }
}

/** Writes both forms, and returns the files of each. */
const writeForms = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-golden-" })
  writeJson(`${folder}/foods.json`, [...labels, ...onlyInJson])
  writeCsv(folder, csvRows())
  const fileOf = (name: string): FetchedPayload => ({
    run_id: "run",
    pipeline: "branded-foods",
    days: null,
    origin: "replay",
    url: `file:release/${name}`,
    final_url: `file:release/${name}`,
    status: 200,
    content_type: null,
    etag: null,
    last_modified: null,
    exact: true,
    fetched_at: "2026-05-01T00:00:00.000Z",
    sha256: name,
    bytes: 0,
    path: `${folder}/${name}`
  })
  const csv = ["food", "branded_food", "food_nutrient", "food_attribute"].map((name) => fileOf(`${name}.csv`))
  return { json: [fileOf("foods.json")], csv } satisfies Record<ReleaseForm, ReadonlyArray<FetchedPayload>>
})

const Json = Schema.Struct({ row: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)) })

/** Without the columns that describe the run. */
const columns = "* exclude (run_id, raw_sha256, fetched_at)"
const queries = {
  foods: `select ${columns} from branded_food.food order by fdc_id`,
  nutrients: "select * from branded_food.nutrient where nutrient_id > 9000",
  // the wording of a reason may change without another version
  odd_values: "select feed, field, said, rows from ingest.odd_value order by all",
  rejects: "select feed, list(position order by position) as positions from ingest.reject group by feed order by feed"
}

/** The rows of a release in these forms, without columns that are null. */
const loadRelease = Effect.fnUntraced(function* (forms: ReadonlyArray<ReleaseForm>) {
  const layout = yield* aLayout
  const files = yield* writeForms
  const { filled } = yield* stage(layout, aRun(), brandedFood, (staging) =>
    Effect.gen(function* () {
      const run = { run_id: "run", started_at: "", layout, staging, days: undefined, acceptShrinkage: false }
      const toLoad = forms.map((form) => ({ form, released_on: "2026-04-30", files: files[form] }))
      const { left_out, staged } = yield* loadForms(run, toLoad, [])
      const counts = staged.map(({ form, rows_ignored }) => ({ feed: formFeed(form), rows_skipped: rows_ignored }))
      const rows: Record<string, unknown> = { left_out: left_out.map(({ feed, kind }) => ({ feed, kind })), counts }
      for (const [name, query] of Object.entries(queries)) {
        const found = yield* staging.db.all(Json, `select to_json(found)::varchar as row from (${query}) found`)
        const listValues = ({ row }: typeof Json.Type) => Object.entries(row).filter(([, value]) => value !== null)
        rows[name] = found.map((row) => Object.fromEntries(listValues(row)))
      }
      return rows
    })
  )
  return filled
})

itLive("maps a release in JSON, CSV or both forms to the golden rows of this mapping version", () =>
  Effect.gen(function* () {
    const rows = {
      json: yield* loadRelease(["json"]),
      csv: yield* loadRelease(["csv"]),
      both: yield* loadRelease(["json", "csv"])
    }
    compareWithGolden(new URL("./golden/", import.meta.url), labelMappingVersion, rows)
  })
)

itLive("the mapping hash is a SHA-256 digest", () =>
  Effect.sync(() => assert.match(labelMappingHash, /^[0-9a-f]{64}$/))
)
