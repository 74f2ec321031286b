import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { placeholderMacro } from "../../run/placeholders.ts"

const macros = readFileSync(new URL("./macros.sql", import.meta.url), "utf8")
const Value = Schema.Struct({ value: Schema.NullOr(Schema.String) })

it.live.each<readonly [macro: string, args: ReadonlyArray<string | null>, value: string | null]>([
  ["tidied", ['  ""OLD\u00a0 FASHIONED""\n[[oats]] '], '"OLD FASHIONED" oats'],
  ["tidied", [" \t"], null],
  ["branded", ["Not a Branded Item"], null],
  ["categorised", ["1,234.5"], null],
  ["categorised", ["7UP"], "7UP"],
  ["day_of", ["4/24/2025"], "2025-04-24"],
  ["day_of", ["2025-04-24"], "2025-04-24"],
  ["day_of", ["13/11/2020"], null],
  ["day_of", ["   2025-04-24   "], "2025-04-24"],
  ["day_of", ["2025-04-24T00:00:00"], "2025-04-24"],
  ["day_of", ["2025-04-24 23:59:59"], "2025-04-24"],
  ["day_of", ["2025-04-24T23:59:59.999Z"], "2025-04-24"],
  ["day_of", ["2025-04-24T23:59:59-0500"], "2025-04-24"],
  ["day_of", ["4/24/2025 12:00:00 AM"], "2025-04-24"],
  ["day_of", ["2025-04-24 or so"], null],
  ["day_of", ["2025-04-24T00:00:00 or so"], null],
  ["shortest_float", ["1.7999999523"], "1.800000"],
  ["is_noisy", ["1.7999999523"], "true"],
  ["is_noisy", ["4.00000000E+1"], "false"],
  ["is_noisy", ["240.000001"], "false"],
  ["gtin_14_of", ["12345678905"], "00012345678905"],
  ["gtin_14_of", ["123456789012345"], null],
  ["is_placeholder_gtin", ["0"], "true"],
  ["is_placeholder_gtin", ["00000"], "true"],
  ["is_placeholder_gtin", ["0000000"], "true"],
  ["is_placeholder_gtin", ["000000000000"], "true"],
  ["is_placeholder_gtin", ["000000000000000"], "true"],
  ["is_placeholder_gtin", ["1236"], "true"], // too short, whatever its last digit
  ["is_placeholder_gtin", ["12348"], "false"],
  ["is_placeholder_gtin", ["12345"], "true"],
  ["is_placeholder_gtin", ["1234565"], "false"],
  ["is_placeholder_gtin", ["1234567"], "true"],
  ["is_placeholder_gtin", ["12345678"], "false"],
  ["is_placeholder_gtin", ["000000000017"], "false"],
  ["is_placeholder_gtin", ["813090000000"], "false"],
  ["is_placeholder_gtin", ["12a"], "false"],
  ["is_placeholder_gtin", [null], "false"],
  ["normalised_unit", ["GRM", null, null], "g"],
  ["normalised_unit", ["MLT", null, null], "ml"],
  ["normalised_unit", ["IU", "8 fl oz", null], "ml"],
  ["normalised_unit", ["mg", null, "Oils"], "ml"],
  ["normalised_unit", ["MC", "1 bar", "Candy"], "g"],
  ["normalised_unit", ["bag", null, null], null],
  ["channels_in", ['["GROCERY","CLUB"]'], "[GROCERY, CLUB]"],
  ["channels_in", ['["GROCERY",["CLUB"]]'], null],
  ["channels_in", ["GROCERY"], "[GROCERY]"],
  ["channels_in", ["GROCERY,ONLINE"], "[GROCERY, ONLINE]"],
  ["channels_in", [""], "[]"],
  ["channels_in", ["null"], "[]"],
  ["channels_in", ["NA"], "[]"],
  ["channels_in", ['["GROCERY"'], null],
  ["channels_in", ["['GROCERY']"], null],
  ["rank_of", ["205", "0"], "0"],
  ["rank_of", [null, "0"], "15"],
  ["is_branded", [" Branded "], "true"],
  ["is_branded", [null], "true"],
  ["is_branded", ["N/A"], "true"],
  ["is_branded", ["sub_sample_food"], "false"],
  ["unit_factor", ["G", "mg"], "1000.000000"],
  ["unit_factor", ["mg", "g"], "0.001000"],
  ["unit_factor", ["MCG", "mg"], "0.001000"],
  ["unit_factor", [" g\t", "µg"], "1000000.000000"],
  ["unit_factor", ["\u03bcg", "µg"], "1.000000"],
  ["unit_factor", ["kJ", "kcal"], null],
  ["unit_factor", ["KCAL", "kJ"], null],
  ["unit_factor", ["IU", "µg"], null],
  ["unit_factor", ["grams", "g"], null],
  ["unit_factor", ["N/A", "g"], "1.000000"],
  ["unit_factor", [null, "g"], "1.000000"],
  ["converted", ["0.0000004", "1000000"], "0.400000"],
  ["converted", ["99999", "1000000"], "99999000000.000000"],
  ["converted", ["999999999999", "1000000"], null],
  ["own_amount_problem", ["fat", "a trace"], 'labelNutrients.fat is "a trace", which is not a number'],
  ["own_amount_problem", ["fat", "4.00E+1"], null],
  ["own_amount_problem", ["fat", "N/A"], null]
])("macro %s of %j is %j", ([macro, args, value]) =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* db.run(placeholderMacro)
    yield* db.run(macros)
    const texts = args.map((text) => (text === null ? "null::varchar" : literal(text)))
    assert.deepStrictEqual(yield* db.all(Value, `select ${macro}(${texts.join(", ")})::varchar as value`), [{ value }])
  })
)

it.live("accepts 85 and 85.0 as whole numbers, but not 1.6 and -5", () =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* db.run(placeholderMacro)
    yield* db.run(macros)
    const query = `select whole(raw, try_cast(raw as integer))::varchar as value
      from (values (1, '85'), (2, '85.0'), (3, '1.6'), (4, '-5')) as example(position, raw) order by position`
    const values = yield* db.all(Value, query)
    assert.deepStrictEqual(
      values.map(({ value }) => value),
      ["85", "85", null, null]
    )
  })
)
