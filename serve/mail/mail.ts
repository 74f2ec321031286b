/** A mail to one person, and why it was not delivered. */
import { Schema } from "effect"

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
   * `unavailable`: mails to others would fail, too.
   */
  reason: Schema.Literals(["refused", "deferred", "unavailable"])
}) {
  override get message() {
    return this.problem
  }
}
