/** A mail to one person, and why it was not delivered. */
import { Cause, Schema } from "effect"

export interface Mail {
  /** One address, as `parseEmail` returns it. */
  readonly to: string
  /** Fixed text: nothing that people or other services have written. */
  readonly subject: string
  readonly text: string
  /** The same for each repetition of the same mail; letters, digits and `-`. It becomes the Message-ID. */
  readonly id: string
}

/** Contains neither an address nor an answer of the mail server, which may repeat one. */
export class MailNotDelivered extends Schema.TaggedError<MailNotDelivered>()("MailNotDelivered", {
  /** A sentence. */
  problem: Schema.String,
  /**
   * `refused`: a repetition for this person would be refused, too. `deferred`: the server asks to repeat it later.
   * `unavailable`: mails to others would fail, too. `unanswered`: the same, but the server may have accepted this one.
   */
  reason: Schema.Literals(["refused", "deferred", "unavailable", "unanswered"])
}) {
  override get message() {
    return this.problem
  }
}

/** Whether the person may get the mail although it failed: its link has to work, and it counts as mailed. */
export const mayHaveArrived = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  return error instanceof MailNotDelivered && error.reason === "unanswered"
}
