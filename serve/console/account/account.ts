/** `/account`: the person's details and password, and the other people who sign in to this account. */
import { Effect, Option, Redacted } from "effect"
import { People, type Person } from "../../people/index.ts"
import { button, field, type Problems, postForm, problemSummary } from "../web/form.ts"
import { badge, dayTag, facts, html, section, table } from "../web/html.ts"
import { askToWait, type FormContext, type Page, type PageContext, redirect, show, startSession } from "../web/page.ts"

const passwordForm = (context: PageContext, problems: Problems) =>
  postForm(
    context,
    html`<input type="text" name="username" value="${context.person.email}" autocomplete="username" hidden>
${field({ name: "current", label: "Current password", type: "password", error: problems.current, autocomplete: "current-password", required: true })}
${field({
  name: "next",
  label: "New password",
  type: "password",
  hint: "At least 12 characters. You are signed out everywhere else.",
  error: problems.next,
  autocomplete: "new-password",
  required: true
})}
<div class="row">${button("Change the password")}</div>`
  )

/** Name of the button of this form; the button of the password form has none. */
const elsewhereButton = "sign_out_elsewhere"

const sessionsForm = (context: PageContext) =>
  postForm(
    context,
    html`<p class="hint">Use this if you have lost a device, or forgot to sign out somewhere. You stay signed in here.</p>
<div class="row">${button("Sign out everywhere else", "plain", { name: elsewhereButton, value: "yes" })}</div>`
  )

const roleBadge = ({ is_operator }: Person) => (is_operator ? badge("operator", "good") : badge("member"))

const peopleTable = (people: ReadonlyArray<Person>, me: Person) =>
  table("People who sign in to this account", people, [
    ["E-mail", ({ email, id }) => (id === me.id ? html`${email} <small class="muted">(you)</small>` : email)],
    ["Role", roleBadge]
  ])

const invitationHint = ({ account_id, is_operator }: Person) =>
  is_operator
    ? html`<p class="small muted">This command creates an invitation link. To remove people, see <code>npx larder-serve people --help</code>.</p>
<pre tabindex="0"><code>npx larder-serve people invite --account ${account_id}</code></pre>`
    : html`<p class="small muted">Ask the operator to invite or remove people.</p>`

const title = "Account"

const renderPage = Effect.fnUntraced(function* (context: PageContext, problems: Problems = {}) {
  const { account, person } = context
  const colleagues = yield* People.use((people) => people.people(account.id))
  return html`${problemSummary(problems)}
<div class="cards">
${section(
  "You",
  facts([
    ["E-mail", person.email],
    ["Role", roleBadge(person)],
    ["Account", account.name],
    ["Account id", html`<code>${account.id}</code>`],
    ["Opened", dayTag(account.created_at)]
  ])
)}
${section("Password", passwordForm(context, problems))}
</div>
${section("Other browsers", sessionsForm(context))}
${section(
  "People",
  html`${peopleTable(colleagues, person)}
<p class="small muted">Everyone here can see and change the keys and payments of ${account.name}. Operators also see the state of the warehouse, under Data, and while payments are simulated the payments of all accounts, under Simulator.</p>
${invitationHint(person)}`
)}`
})

const changePassword = Effect.fnUntraced(function* (context: FormContext) {
  const { form, person } = context
  const change = { person_id: person.id, current: form.exact("current"), next: form.exact("next") }
  const showAgain = (problems: Problems) => Effect.map(renderPage(context, problems), (body) => show(title, body, 422))
  return yield* People.use((people) => people.changePassword(change)).pipe(
    Effect.map((signedIn) =>
      startSession(signedIn, "/account", "Your password is changed. You were signed out everywhere else.")
    ),
    Effect.catchTags({
      WrongCredentials: () => showAgain({ current: "This is not your current password." }),
      WeakPassword: ({ message }) => showAgain({ next: message }),
      TooManyAttempts: ({ message, seconds }) =>
        Effect.map(renderPage(context, { current: message }), (body) => askToWait(title, body, seconds))
    })
  )
})

const signOutElsewhere = Effect.fnUntraced(function* ({ person, session }: FormContext) {
  const signedIn = yield* People.use((people) => people.signOutElsewhere({ person, token: Redacted.value(session) }))
  return Option.isSome(signedIn)
    ? startSession(signedIn.value, "/account", "You were signed out everywhere else.")
    : redirect("/sign-in", "You are not signed in, so nothing was changed.", "warning")
})

export const accountPage: Page<People> = {
  path: "/account",
  nav: title,
  get: (context) => Effect.map(renderPage(context), (body) => show(title, body)),
  post: (context) => (context.form.has(elsewhereButton) ? signOutElsewhere(context) : changePassword(context))
}
