/** A page of finished records as the body of an answer. */
export const page = (records: ReadonlyArray<string>, next: string | null) =>
  `{"data":[${records.join(",")}],"next_cursor":${JSON.stringify(next)}}`
