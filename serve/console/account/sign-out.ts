/** `/sign-out`: only the form in the header of every page. */
import { Effect, Redacted } from "effect"
import { People } from "../../people/index.ts"
import { signOutPath } from "../web/layout.ts"
import type { Page } from "../web/page.ts"

export const signOutPage: Page<People> = {
  path: signOutPath,
  post: ({ session }) =>
    Effect.as(
      People.use((people) => people.signOut(Redacted.value(session))),
      { kind: "signed-out" }
    )
}
