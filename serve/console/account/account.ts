/** `/account`: the person's details and password, and the other people who sign in to this account. */
import { Effect, Option, Redacted } from "effect"
import { People, type Person } from "../../people/index.ts"
import { button, field, type Problems, postForm, summary } from "../web/form.ts"
import { badge, day, facts, html, section, table } from "../web/html.ts"
import { type FormContext, type Page, type PageContext, putOff, redirect, show, signedIn } from "../web/page.ts"

const passwordForm = (email: string, problems: Problems) =>
  postForm({
    body: html`<input type="text" name="username" value="${email}" autocomplete="username" hidden>
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
  })

/** Name of the button that identifies the form; the other form has none. */
const elsewhere = "sign_out_elsewhere"

const sessionsForm = postForm({
  body: html`<p class="hint">For when a device is lost, or you forgot to sign out somewhere. You stay signed in here.</p>
<div class="row">${button("Sign out everywhere else", "plain", { name: elsewhere, value: "yes" })}</div>`
})

const role = ({ is_operator }: Person) => (is_operator ? badge("operator", "good") : badge("member"))

const peopleTable = (people: ReadonlyArray<Person>, me: Person) =>
  table({
    caption: "People who sign in to this account",
    columns: [{ label: "E-mail" }, { label: "Role" }],
    rows: people.map((person) => [
      person.id === me.id ? html`${person.email} <small class="muted">(you)</small>` : person.email,
      role(person)
    ])
  })

const invitations = ({ account_id, is_operator }: Person) =>
  is_operator
    ? html`<p class="small muted">This command creates an invitation link. To remove people, see <code>npx larder-serve people --help</code>.</p>
<pre tabindex="0"><code>npx larder-serve people invite --account ${account_id}</code></pre>`
    : html`<p class="small muted">Ask the operator to invite or remove people.</p>`

const title = "Account"

const page = Effect.fnUntraced(function* ({ account, person }: PageContext, problems: Problems = {}) {
  const all = yield* People.use((people) => people.people(account.id))
  return html`${summary(problems)}
<div class="cards">
${section(
  "You",
  facts([
    ["E-mail", person.email],
    ["Role", role(person)],
    ["Account", account.name],
    ["Account id", html`<code>${account.id}</code>`],
    ["Opened", day(account.created_at)]
  ])
)}
${section("Password", passwordForm(person.email, problems))}
</div>
${section("Other browsers", sessionsForm)}
${section(
  "People",
  html`${peopleTable(all, person)}
<p class="small muted">Everybody here sees and changes the keys and payments of ${account.name}. Operators also see the state of the warehouse, under Data, and while payments are simulated the payments of all accounts, under Simulator.</p>
${invitations(person)}`
)}`
})

const changePassword = Effect.fnUntraced(function* (context: FormContext) {
  const { form, person } = context
  const people = yield* People
  return yield* people
    .changePassword({ person_id: person.id, current: form.exact("current"), next: form.exact("next") })
    .pipe(
      Effect.map((begun) =>
        signedIn(begun, "/account", "Your password is changed. You were signed out everywhere else.")
      ),
      Effect.catchTags({
        WrongCredentials: () =>
          Effect.map(page(context, { current: "This is not your current password." }), (body) =>
            show(title, body, 422)
          ),
        WeakPassword: ({ message }) => Effect.map(page(context, { next: message }), (body) => show(title, body, 422)),
        TooManyAttempts: ({ message, seconds }) =>
          Effect.map(page(context, { current: message }), (body) => putOff(title, body, seconds))
      })
    )
})

const signOutElsewhere = Effect.fnUntraced(function* ({ person, session }: FormContext) {
  const begun = yield* People.use((people) => people.signOutElsewhere({ person, token: Redacted.value(session) }))
  return Option.isSome(begun)
    ? signedIn(begun.value, "/account", "You were signed out everywhere else.")
    : redirect("/sign-in", "You are not signed in, so nothing was changed.", "warning")
})

export const accountPage: Page<People> = {
  path: "/account",
  nav: title,
  get: (context) => Effect.map(page(context), (body) => show(title, body)),
  post: (context) => (context.form.has(elsewhere) ? signOutElsewhere(context) : changePassword(context))
}
