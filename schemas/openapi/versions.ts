/**
 * Changes for clients, newest first. A change that could break a client needs a note with a higher major version: a test
 * compares the document with the recorded promises. Additions can also have a note.
 */
export interface VersionNote {
  readonly version: `${number}.${number}.${number}`
  readonly date: string
  /** Whether a client written for the previous version may have to change. */
  readonly breaking: boolean
  /** One sentence per change: its effect on clients, and what they have to do. */
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
  breaking: false, // the responses are the same, so a client of 1.0.0 still works
  changes: [
    "The same responses, in a document that client generators for more languages understand.",
    "Both shapes of `/v1/commodities` are one record with optional fields, `limit` there states no default, and every number is a `double`: generate your client again to get these types."
  ]
}

export const versions: readonly [VersionNote, ...Array<VersionNote>] = [generatorVersion, firstVersion]

export const versionNotes = versions
  .map(
    ({ breaking, changes, date, version }) =>
      `- ${version} (${date})${breaking ? ", breaking" : ""}: ${changes.join(" ")}`
  )
  .join("\n")
