/** `/invitation/…`: a one-time link becomes a sign-in. Looking at it uses nothing up. */
import { Effect, Option } from "effect"
import { type Invited, People } from "../../people/people.ts"
import { button, field, type Problems, summary } from "../form.ts"
import { html, notice } from "../html.ts"
import { show } from "../page.ts"
import type { PublicAnswer, PublicPage } from "../public-page.ts"

const form = (invited: Invited, typed: string, problems: Problems = {}) => html`${summary(problems)}
<p>Choose how you sign in from now on.</p>
<section aria-label="Your sign-in"><form method="post">
${
  invited.email === null
    ? field({
        name: "email",
        label: "E-mail",
        type: "email",
        value: typed,
        error: problems.email,
        autocomplete: "username",
        inputmode: "email",
        required: true,
        maxlength: 254
      })
    : html`<div class="field"><label for="email">E-mail</label><input id="email" name="email" type="email" value="${invited.email}" autocomplete="username" readonly></div>`
}
${field({
  name: "password",
  label: "Password",
  type: "password",
  hint: "At least 12 characters. A password manager makes a good one.",
  error: problems.password,
  autocomplete: "new-password",
  required: true
})}
<div class="row">${button("Create my sign-in")}</div>
</form></section>`

const gone = html`${notice("warning", html`<p>This invitation was used already, or has expired.</p>`)}
<p>If you have used it yourself, <a href="/sign-in">sign in</a>. Otherwise ask for a new one.</p>`

const title = "Welcome to Larder"
const isGone: PublicAnswer = show("Invitation", gone, 410)

export const invitationPage: PublicPage<People> = {
  path: "/invitation/:token",
  get: Effect.fnUntraced(function* ({ params }) {
    const invited = yield* People.use((people) => people.invitation(params.token ?? ""))
    return Option.isSome(invited) ? show(title, form(invited.value, "")) : isGone
  }),
  post: Effect.fnUntraced(function* ({ form: sent, params }) {
    const people = yield* People
    const token = params.token ?? ""
    const invited = yield* people.invitation(token)
    if (Option.isNone(invited)) return isGone
    const email = sent.text("email")
    const again = (problems: Problems, status = 422): PublicAnswer =>
      show(title, form(invited.value, email, problems), status)
    return yield* people.accept({ token, email, password: sent.exact("password") }).pipe(
      Effect.map((signedIn): PublicAnswer => ({ kind: "signed-in", signedIn, to: "/" })),
      Effect.catchTags({
        InvitationGone: () => Effect.succeed(isGone),
        InvalidEmail: ({ message }) => Effect.succeed(again({ email: message })),
        EmailTaken: ({ message }) => Effect.succeed(again({ email: message })),
        WeakPassword: ({ message }) => Effect.succeed(again({ password: message })),
        TooManyAttempts: ({ message }) => Effect.succeed(again({ password: message }, 429))
      })
    )
  })
}
