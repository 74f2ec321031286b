/** Times that people type. */
import { Timestamp } from "@larder/schemas"
import { Schema } from "effect"

const isTimestamp = Schema.is(Timestamp)

/** A UTC time as people type it: `2027-01-31T00:00:00Z`, `2027-01-31 00:00`. Undefined if it is not valid. */
export const parseTypedTimestamp = (text: string): string | undefined => {
  const [, day, minute, second = ":00"] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?( ?UTC|Z)?$/.exec(text) ?? []
  const timestamp = `${day}T${minute}${second}.000Z`
  return isTimestamp(timestamp) ? timestamp : undefined
}
