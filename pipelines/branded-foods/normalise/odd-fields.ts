/** SQL that finds texts of optional fields that cannot be read. */
import { type LabelField, labelFields } from "../label-fields.ts"

/** By type: whether a text of an optional field is not one of its values. */
const isUnreadable: Readonly<Partial<Record<LabelField["type"], (said: string) => string>>> = {
  day: (said) => `plausible(day_of(${said})) is null`,
  "whole number": (said) => `whole_number(${said}) is null`,
  channels: (said) => `channels_in(${said}) is null`,
  vocabulary: (said) => `categorised(tidied(${said})) is null`
}

/** The text if it cannot be read; otherwise null. */
export const oddText = (type: LabelField["type"], said: string) =>
  `case when ${said} <> '' and ${isUnreadable[type]?.(said) ?? "false"} and not is_placeholder(${said}) then ${said} end`

/** Optional fields of a label whose texts can be unreadable. A `food_category_id` is often a number, which is no category. */
export const oddFields = Object.entries<LabelField>(labelFields).filter(
  ([column, { role, type }]) =>
    role === "optional" && type in isUnreadable && column !== "food_category" && column !== "data_type"
)
