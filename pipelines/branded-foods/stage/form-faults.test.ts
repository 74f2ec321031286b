/**
 * Both forms of a release with each fault of the table in `docs/ingesting.md`, loaded as a run loads them, without network
 * and publication. `test/end-to-end/branded-food-faults.test.ts` has whole runs with one fault of each kind.
 */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { matchesTemplate, readDocumentedFaults } from "@larder/test/support/pipelines/documented-faults.ts"
import { type FaultyRelease, type FormFault, faultyFiles } from "@larder/test/support/pipelines/faulty-foods.ts"
import { makeRandom, seed } from "@larder/test/support/seed.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { brandedFood, stage } from "@larder/warehouse"
import { Effect, FileSystem, Schema } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import type { FormToLoad, ReleaseForm } from "../source/fetch-release.ts"
import { loadForms } from "./load-forms.ts"

const documented = readDocumentedFaults("branded foods")

const writeForm = Effect.fnUntraced(function* (folder: string, form: ReleaseForm, { body }: FormFault) {
  const fs = yield* FileSystem.FileSystem
  const url = `https://fdc.nal.usda.gov/FoodData_Central_branded_food_${form}_2026-04-30.zip`
  const path = `${folder}/${form}`
  yield* fs.writeFile(path, body ?? assert.fail("the fault is not one of the file"))
  const payload: FetchedPayload = {
    run_id: "run",
    pipeline: "branded-foods",
    days: null,
    origin: "replay",
    url,
    final_url: url,
    status: 200,
    content_type: null,
    etag: null,
    last_modified: null,
    exact: true,
    fetched_at: "2026-05-01T00:00:00.000Z",
    sha256: form,
    bytes: 0,
    path
  }
  return { form, released_on: "2026-04-30", files: [payload] } satisfies FormToLoad
})

const Count = Schema.Struct({ foods: Schema.Int })

/** Loads both forms. Returns why each is left out, and how many foods are staged. */
const load = Effect.fnUntraced(function* (release: FaultyRelease) {
  const fs = yield* FileSystem.FileSystem
  const layout = yield* aLayout
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-forms-" })
  const forms = [yield* writeForm(folder, "json", release.json), yield* writeForm(folder, "csv", release.csv)]
  const { filled } = yield* stage(layout, aRun(), brandedFood, (staging) =>
    Effect.gen(function* () {
      const run = { run_id: "run", started_at: "", layout, staging, days: undefined, acceptShrinkage: false }
      const { left_out } = yield* loadForms(run, forms, [])
      const [count] = yield* staging.db.all(Count, "select count(*)::integer as foods from branded_food.food")
      return { reasons: new Map(left_out.map(({ feed, reason }) => [feed, reason])), foods: count?.foods }
    })
  )
  return filled
})

const releases = faultyFiles(makeRandom(seed)).map(
  (release, number) => [`${number + 1}: ${release.json.fault}; ${release.csv.fault}`, release] as const
)

describe("a release with a fault in each form", () => {
  for (const [name, release] of releases) {
    itLive(`is left out as documented, without any food: ${name}`, () =>
      Effect.gen(function* () {
        const { foods, reasons } = yield* load(release)
        assert.strictEqual(foods, 0)
        for (const form of ["json", "csv"] as const) {
          const line = documented.find(({ fault }) => fault === release[form].fault)
          const { published, kept, exit, message = "" } = line ?? {}
          assert.deepStrictEqual([published, kept, exit], ["the other form", "its last labels", "4"])
          const reason = reasons.get(`gov-fdc/${form}`) ?? ""
          assert.isTrue(matchesTemplate(reason, message), `${reason}\nis not: ${message}\n(LARDER_TEST_SEED=${seed})`)
        }
      })
    )
  }
})
