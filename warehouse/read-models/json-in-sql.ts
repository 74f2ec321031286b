/** SQL expressions that convert a column for JSON. Null stays null. */

/** A decimal without trailing zeros: `12.5`, `15`. Exact to 15 digits, the precision of JSON numbers. */
export const decimalToJson = (column: string) => `rtrim(rtrim(${column}::varchar, '0'), '.')::json`

/** A double: `100` instead of `100.0`, and null for infinity and NaN. */
export const doubleToJson = (column: string) => `
  case when try_cast(${column} as bigint) = ${column} then to_json(try_cast(${column} as bigint))
    when isfinite(${column}) then to_json(${column}) end`

/** A time in UTC with milliseconds, `2026-06-06T12:41:05.000Z`. */
export const timeToText = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`
