/** A row that cannot be used. The message is the end of the sentence "The row was rejected because …". */
export class UnusableRow extends Error {}

/** A payload that cannot be read, or not to its end: another format, missing columns in the header, or truncated. */
export class FeedUnreadable extends Error {
  readonly problem: string
  constructor(problem: string) {
    super(problem)
    this.problem = problem
  }
}
