/**
 * `/invitation/…`: a one-time link to create a login or to choose a new password. Opening the page does not use it
 * up.
 */
import { Effect, Option } from "effect"
import { Administration } from "../../ledger/index.ts"
import { type OpenInvitation, People } from "../../people/index.ts"
import { button, field, type Problems, problemSummary } from "../web/form.ts"
import { html, linkButton, notice, timeText } from "../web/html.ts"
import { askToWait, type PublicPage, show, startSession } from "../web/page.ts"
import { forgotPasswordPath } from "./forgot-password.ts"

/** Texts for a new person, or for a person who chooses a new password. */
const chooseTexts = ({ person_id }: OpenInvitation) =>
  person_id === null
    ? { title: "Welcome to Larder", label: "Password", button: "Create my login" }
    : { title: "Choose a new password", label: "New password", button: "Save and sign in" }

/** A valid link, and the name of its account. */
interface Opened {
  readonly invitation: OpenInvitation
  readonly account: string
}

const findInvitation = Effect.fnUntraced(function* (token: string) {
  const invitation = yield* People.use((people) => people.invitation(token))
  if (Option.isNone(invitation)) return undefined
  const { account_id } = invitation.value
  const { name } = yield* Administration.use((ledger) => ledger.account({ account_id }))
  return { invitation: invitation.value, account: name }
})

const renderLead = ({ account, invitation }: Opened) =>
  invitation.person_id === null
    ? html`You join the account <strong>${account}</strong> as ${invitation.is_operator ? "an operator" : "a member"}. Choose how you sign in from now on.`
    : html`It replaces your old password for the account <strong>${account}</strong>, and signs you out everywhere else.`

const renderForm = (opened: Opened, typed: string, problems: Problems = {}) => {
  const { invitation } = opened
  const texts = chooseTexts(invitation)
  return html`${problemSummary(problems)}
<p>${renderLead(opened)}</p>
<section aria-label="Your login"><form method="post">
${
  invitation.email === null
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
    : html`<div class="field"><label for="email">E-mail</label><input id="email" name="email" type="email" value="${invitation.email}" autocomplete="username" readonly></div>`
}
${field({
  name: "password",
  label: texts.label,
  type: "password",
  hint: "At least 12 characters. A password manager makes a good one.",
  error: problems.password,
  autocomplete: "new-password",
  required: true
})}
<div class="row">${button(texts.button)}</div>
</form></section>
<p class="small muted">This link works once, until ${timeText(invitation.expires_at)}.</p>`
}

const expiredLink = show(
  "Invitation",
  html`${notice("warning", html`<p>This link has been used, was withdrawn, or has expired.</p>`)}
<p>If you have used it yourself, sign in. If you had asked for a new password, <a href="${forgotPasswordPath}">ask again</a>. Otherwise, ask the person who invited you for a new link.</p>
<p>${linkButton("/sign-in", "Sign in", "primary")}</p>`,
  410
)

export const invitationPage: PublicPage<Administration | People> = {
  path: "/invitation/:token",
  get: Effect.fnUntraced(function* ({ params }) {
    const opened = yield* findInvitation(params.token ?? "")
    return opened === undefined ? expiredLink : show(chooseTexts(opened.invitation).title, renderForm(opened, ""))
  }),
  post: Effect.fnUntraced(function* ({ form: sent, params }) {
    const token = params.token ?? ""
    const opened = yield* findInvitation(token)
    if (opened === undefined) return expiredLink
    const email = sent.text("email")
    const { title } = chooseTexts(opened.invitation)
    const showAgain = (problems: Problems) => Effect.succeed(show(title, renderForm(opened, email, problems), 422))
    const acceptance = { token, email, password: sent.exact("password") }
    return yield* People.use((people) => people.accept(acceptance)).pipe(
      Effect.map((signedIn) => startSession(signedIn, "/")),
      Effect.catchTags({
        InvalidInvitation: () => Effect.succeed(expiredLink),
        InvalidEmail: ({ message }) => showAgain({ email: message }),
        EmailTaken: ({ message }) => showAgain({ email: message }),
        WeakPassword: ({ message }) => showAgain({ password: message }),
        TooManyAttempts: ({ message, seconds }) =>
          Effect.succeed(askToWait(title, renderForm(opened, email, { password: message }), seconds))
      })
    )
  })
}
