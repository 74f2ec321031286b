/**
 * The operator's `feeds.tsv`. A line of a bundled feed changes it: `states` adds names of its report, and `off` switches
 * it off. Every other line is a new feed.
 */
import { suggestName } from "@larder/schemas"
import {
  type BadLine,
  decodeCells,
  faultAt,
  findRepeated,
  type Located,
  readCells
} from "../../run/files/hand-edited.ts"
import { isIncomplete, parseConditions } from "../conditions.ts"
import { FeedLine } from "./lines.ts"
import type { OwnFile } from "./own-files.ts"

export type Cells = Readonly<Record<string, string>>

/** The lines of a file, and faults because of which some have no cells. */
export interface OwnCells {
  readonly rows: ReadonlyArray<Located<Cells>>
  readonly faults: ReadonlyArray<BadLine>
}

export const readOwnCells = (
  own: OwnFile | undefined,
  known: ReadonlyArray<string>,
  required?: ReadonlyArray<string>
): OwnCells => (own === undefined ? { rows: [], faults: [] } : readCells(own.file, own.text, known, required))

const feedColumns = Object.keys(FeedLine.fields)
const changing = ["feed", "states"]

/** The columns that only a new feed fills in. */
const listFilled = ({ row }: Located<Cells>) =>
  feedColumns.filter((column) => !changing.includes(column) && (row[column] ?? "") !== "")

/** New names of a report widen a condition that the bundle has. A new condition would reject rows that are read today. */
const findStatesFault = (added: string, { states }: FeedLine): string | undefined => {
  const conditions = parseConditions(added)
  if (conditions.some(isIncomplete)) return "it has a condition that is not field=value"
  const known = new Set(["report_title", ...parseConditions(states).map(({ field }) => field)])
  const unknown = conditions.find(({ field }) => !known.has(field))
  return unknown === undefined
    ? undefined
    : `the bundle does not compare ${unknown.field} in this feed: names can be added to ${[...known].join(", ")}`
}

const findChangeFaults = (line: Located<Cells>, bundled: FeedLine): ReadonlyArray<BadLine> => {
  const { off = "", states = "" } = line.row
  const filled = listFilled(line)
  if (filled.length > 0) {
    const problem = `${bundled.feed} is a feed of the bundle: a line of it has only states or off. Empty ${filled.join(", ")}, or choose another name`
    return [faultAt(line, "feed", problem)]
  }
  if (states === "" && off === "") return [faultAt(line, "states", "it changes nothing: fill in states or off")]
  const fault = findStatesFault(states, bundled)
  return fault === undefined ? [] : [faultAt(line, "states", fault)]
}

const describeUnknown = (name: string, bundled: Iterable<string>) => {
  const nearest = suggestName(name, [...bundled])
  const question = nearest === undefined ? "" : `. Did you mean ${nearest}?`
  return `${name} is not a feed of the bundle, and a new feed needs its other columns${question}`
}

export const readOwnFeeds = (own: OwnFile | undefined, bundled: ReadonlyMap<string, FeedLine>) => {
  const cells = readOwnCells(own, [...feedColumns, "off"], ["feed"])
  const faults: Array<BadLine> = []
  const added: Array<Located<Cells>> = []
  const addedStates: Array<{ readonly feed: string; readonly states: string }> = []
  const off: Array<string> = []
  for (const line of cells.rows) {
    const { feed = "", off: switched = "", states = "" } = line.row
    const known = bundled.get(feed)
    if (switched === "off") off.push(feed)
    else if (switched !== "") faults.push(faultAt(line, "off", "it must be `off` or empty"))
    if (known === undefined) {
      if (listFilled(line).length > 0) added.push(line)
      else faults.push(faultAt(line, "feed", describeUnknown(feed, bundled.keys())))
      continue
    }
    const changeFaults = findChangeFaults(line, known)
    faults.push(...changeFaults)
    if (changeFaults.length === 0 && states !== "") addedStates.push({ feed, states })
  }
  const decoded = decodeCells(added, FeedLine)
  return {
    cells,
    rows: decoded.rows,
    addedStates,
    off,
    faults: [...faults, ...decoded.faults, ...findRepeated(cells.rows, "feed")]
  }
}
