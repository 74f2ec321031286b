/** `/account`: who I am here, my password, and who else signs in to this account. */
import { Effect, Redacted } from "effect"
import { People, type Person } from "../../people/people.ts"
import { button, field, type Problems, postForm, summary } from "../form.ts"
import { badge, day, facts, html, section, table } from "../html.ts"
import { type Page, type PageContext, redirect, show } from "../page.ts"

const passwordForm = (email: string, problems: Problems) =>
  postForm({
    body: html`<input type="text" name="username" value="${email}" autocomplete="username" hidden>
${field({ name: "current", label: "Current password", type: "password", error: problems.current, autocomplete: "current-password", required: true })}
${field({
  name: "next",
  label: "New password",
  type: "password",
  hint: "At least 12 characters. You are signed out in all other browsers.",
  error: problems.next,
  autocomplete: "new-password",
  required: true
})}
<div class="row">${button("Change the password")}</div>`
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

const invitations = ({ is_operator }: Person) =>
  is_operator
    ? html`People are invited and removed with <code>larder-serve people</code>.`
    : "Ask the operator to invite or remove people."

const page = Effect.fnUntraced(function* ({ account, person }: PageContext, problems: Problems = {}, status = 200) {
  const all = yield* People.use((people) => people.people(account.id))
  return show(
    "Account",
    html`${summary(problems)}
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
${section(
  "People",
  html`${peopleTable(all, person)}
<p class="small muted">Everybody here sees and changes the keys and payments of ${account.name}. Operators also see the state of the warehouse. ${invitations(person)}</p>`
)}`,
    status
  )
})

export const accountPage: Page<People> = {
  path: "/account",
  nav: "Account",
  get: (context) => page(context),
  post: Effect.fnUntraced(function* (context) {
    const { form, person, session } = context
    const people = yield* People
    return yield* people
      .changePassword({
        person_id: person.id,
        token: Redacted.value(session),
        current: form.exact("current"),
        next: form.exact("next")
      })
      .pipe(
        Effect.as(redirect("/account", "Your password is changed. You were signed out in all other browsers.")),
        Effect.catchTags({
          WrongCredentials: () => page(context, { current: "This is not your current password." }, 422),
          WeakPassword: ({ message }) => page(context, { next: message }, 422),
          TooManyAttempts: ({ message }) => page(context, { current: message }, 429)
        })
      )
  })
}
