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
  ["in_own_unit", ["0.1", "G", "mg"], "100.000000"],
  ["in_own_unit", ["10000", "mg", "g"], "10.000000"],
  ["in_own_unit", ["100000", "MCG", "mg"], "100.000000"],
  ["in_own_unit", ["0.005", "mg", "µg"], "5.000000"],
  ["in_own_unit", ["0.000001", " g ", "µg"], "1.000000"],
  ["in_own_unit", ["5", "\u03bcg", "µg"], "5.000000"],
  ["in_own_unit", ["1393", "kJ", "kcal"], null],
  ["in_own_unit", ["333", "KCAL", "kJ"], null],
  ["in_own_unit", ["200", "IU", "µg"], null],
  ["in_own_unit", ["200", "grams", "g"], null],
  ["in_own_unit", ["200", "N/A", "g"], "200.000000"],
  ["in_own_unit", ["200", null, "g"], "200.000000"],
  ["torn_own_amount", ["fat", "a trace"], 'labelNutrients.fat is "a trace", which is not a number'],
  ["torn_own_amount", ["fat", "4.00E+1"], null],
  ["torn_own_amount", ["fat", "N/A"], null]
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
