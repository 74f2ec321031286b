/**
 * The day of a release, which decides what replaces what. Only names state it: of the file or its folder, or, if these
 * were renamed, of the members of the zip and their folder. Times of members are those of unpacking or packing again.
 */
import { isDay } from "@larder/schemas"

/** In `FoodData_Central_branded_food_csv_2026-04-30 (1).zip`, or the name of the zip of all foods. */
const officialDay = /FoodData_Central_(?:branded_food_)?(?:json|csv)_(\d{4}-\d{2}-\d{2})(?!\d)/gi
const anyDay = /(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)/g

/** The earliest day, so that an older release never replaces a newer one. */
const findDay = (names: ReadonlyArray<string>, pattern: RegExp) =>
  names
    .flatMap((name) => [...name.matchAll(pattern)].map(([, day = ""]) => day))
    .filter(isDay)
    .toSorted()
    .at(0)

/** The folder and the name of a file, without escapes: `%20` would look like the start of a year. */
const lastTwo = (address: string) => decodeURIComponent(address.split("/").slice(-2).join("/"))

/** `members` are the paths of the files in the zip that are read. Another name than the usual one may state any day. */
export const releaseDay = (address: string, members: ReadonlyArray<string> = []): string | null =>
  findDay([lastTwo(address)], officialDay) ??
  findDay(members, officialDay) ??
  findDay(members, anyDay) ??
  findDay([lastTwo(address)], anyDay) ??
  null
