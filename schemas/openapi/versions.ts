/**
 * What changed for clients, newest first. A change that could break a client needs a note with a higher major version:
 * a test compares the document with what was promised. Additions may have a note, too.
 */
export interface VersionNote {
  readonly version: `${number}.${number}.${number}`
  readonly date: string
  /** Whether a client written for the previous version may have to change. */
  readonly breaking: boolean
  /** One sentence per change: what a client sees, and what it has to do. */
  readonly changes: readonly [string, ...Array<string>]
}

const firstVersion: VersionNote = {
  version: "1.0.0",
  date: "2026-11-22",
  breaking: false,
  changes: ["The first version: commodity prices, branded foods and storefronts on eleven endpoints."]
}

const generatorVersion: VersionNote = {
  version: "1.1.0",
  date: "2026-11-24",
  breaking: false, // the answers are the same, so a client of 1.0.0 still works
  changes: [
    "The same answers, in a document that generators of clients understand in more languages.",
    "Both shapes of `/v1/commodities` are one record with optional fields, `limit` there states no default, and every number is a `double`: generate your client anew to get these types."
  ]
}

export const versions: readonly [VersionNote, ...Array<VersionNote>] = [generatorVersion, firstVersion]

export const versionNotes = versions
  .map(
    ({ breaking, changes, date, version }) =>
      `- ${version} (${date})${breaking ? ", breaking" : ""}: ${changes.join(" ")}`
  )
  .join("\n")
