/** The body of a page of finished JSON records. */
export const page = (records: ReadonlyArray<string>, next: string | null) =>
  `{"data":[${records.join(",")}],"next_cursor":${JSON.stringify(next)}}`
