/** How often this server delivered a notice or a mail, and how often that failed, for `/metrics`. Each try counts. */
import { Effect } from "effect"
import type { Mailer } from "../mail/index.ts"

export const makeDeliveries = () => ({
  notice: { delivered: 0, failed: 0 },
  mail: { delivered: 0, failed: 0 }
})
export type Deliveries = ReturnType<typeof makeDeliveries>

export const countMails = (mailer: Mailer, { mail }: Deliveries): Mailer => ({
  ...mailer,
  send: (each) =>
    mailer.send(each).pipe(
      Effect.tap(() => Effect.sync(() => mail.delivered++)),
      Effect.tapError(() => Effect.sync(() => mail.failed++))
    )
})
