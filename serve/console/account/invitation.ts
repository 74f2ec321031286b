/**
 * `/invitation/…`: a one-time link to create a sign-in or to choose a new password. Opening the page does not use it
 * up.
 */
import { Effect, Option } from "effect"
import { Administration } from "../../ledger/index.ts"
import { type OpenInvitation, People } from "../../people/index.ts"
import { button, field, type Problems, summary } from "../web/form.ts"
import { html, linkButton, momentText, notice } from "../web/html.ts"
import { type Answer, putOff, show, signedIn } from "../web/page.ts"
import type { PublicPage } from "../web/public-page.ts"

const ofNewPerson = {
  title: "Welcome to Larder",
  label: "Password",
  button: "Create my sign-in"
}
const ofNewPassword = {
  title: "Choose a new password",
  label: "New password",
  button: "Save and sign in"
}
const textsOf = ({ person_id }: OpenInvitation) => (person_id === null ? ofNewPerson : ofNewPassword)

/** A valid link, and the name of its account. */
interface Opened {
  readonly invited: OpenInvitation
  readonly account: string
}

const opened = Effect.fnUntraced(function* (token: string) {
  const invitation = yield* People.use((people) => people.invitation(token))
  if (Option.isNone(invitation)) return undefined
  const { account_id } = invitation.value
  const { name } = yield* Administration.use((ledger) => ledger.account({ account_id }))
  return { invited: invitation.value, account: name }
})

const lead = ({ account, invited }: Opened) =>
  invited.person_id === null
    ? html`You join the account <strong>${account}</strong> as ${invited.is_operator ? "an operator" : "a member"}. Choose how you sign in from now on.`
    : html`Your old password for the account <strong>${account}</strong> no longer works.`

const form = (of: Opened, typed: string, problems: Problems = {}) => {
  const { invited } = of
  return html`${summary(problems)}
<p>${lead(of)}</p>
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
        maxlength: 254,
        autofocus: typed === ""
      })
    : html`<div class="field"><label for="email">E-mail</label><input id="email" name="email" type="email" value="${invited.email}" autocomplete="username" readonly></div>`
}
${field({
  name: "password",
  label: textsOf(invited).label,
  type: "password",
  hint: "At least 12 characters. A password manager makes a good one.",
  error: problems.password,
  autocomplete: "new-password",
  required: true
})}
<div class="row">${button(textsOf(invited).button)}</div>
</form></section>
<p class="small muted">This link works once, until ${momentText(invited.expires_at)}.</p>`
}

const gone = html`${notice("warning", html`<p>This link was used already, was withdrawn, or has expired.</p>`)}
<p>If you have used it yourself, sign in. Otherwise, ask the person who sent it for a new one.</p>
<p>${linkButton("/sign-in", "Sign in", "primary")}</p>`

const isGone: Answer = show("Invitation", gone, 410)

export const invitationPage: PublicPage<Administration | People> = {
  path: "/invitation/:token",
  get: Effect.fnUntraced(function* ({ params }) {
    const of = yield* opened(params.token ?? "")
    return of === undefined ? isGone : show(textsOf(of.invited).title, form(of, ""))
  }),
  post: Effect.fnUntraced(function* ({ form: sent, params }) {
    const people = yield* People
    const token = params.token ?? ""
    const of = yield* opened(token)
    if (of === undefined) return isGone
    const email = sent.text("email")
    const { title } = textsOf(of.invited)
    const again = (problems: Problems): Answer => show(title, form(of, email, problems), 422)
    return yield* people.accept({ token, email, password: sent.exact("password") }).pipe(
      Effect.map((begun): Answer => signedIn(begun, "/")),
      Effect.catchTags({
        InvitationGone: () => Effect.succeed(isGone),
        InvalidEmail: ({ message }) => Effect.succeed(again({ email: message })),
        EmailTaken: ({ message }) => Effect.succeed(again({ email: message })),
        WeakPassword: ({ message }) => Effect.succeed(again({ password: message })),
        TooManyAttempts: ({ message, seconds }) =>
          Effect.succeed(putOff(title, form(of, email, { password: message }), seconds))
      })
    )
  })
}
