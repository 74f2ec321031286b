/** `/sign-in`. Its query contains the page to open afterwards, a path of the console. */
import { Effect, Option, Redacted } from "effect"
import { People } from "../../people/index.ts"
import { button, field } from "../web/form.ts"
import { type HtmlPart, html, notice } from "../web/html.ts"
import { askToWait, type PublicPage, redirect, show, startSession } from "../web/page.ts"
import { readNextPath } from "../web/query.ts"
import { forgotPasswordPath } from "./forgot-password.ts"

const renderForm = (email: string, problem?: HtmlPart) => html`${problem && notice("bad", html`<p>${problem}</p>`)}
<section aria-label="Sign in"><form method="post">
${field({ name: "email", label: "E-mail", type: "email", value: email, autocomplete: "username", inputmode: "email", required: true, maxlength: 254, autofocus: email === "" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", required: true, autofocus: email !== "" })}
<div class="row">${button("Sign in")}</div>
</form></section>
<p><a href="${forgotPasswordPath}">Forgot your password?</a></p>
<p class="small muted">You need an invitation link to sign in the first time. Ask the operator of this server for one.</p>`

const noPeopleYet = html`<p>Nobody can sign in yet. The operator of this server creates a link for the first person:</p>
<pre><code>npx larder-serve accounts list
npx larder-serve people invite --account ID --operator</code></pre>`

export const signInPage: PublicPage<People> = {
  path: "/sign-in",
  get: Effect.fnUntraced(function* ({ session, url }) {
    const people = yield* People
    const person = session === undefined ? Option.none() : yield* people.session(Redacted.value(session))
    if (Option.isSome(person)) return redirect(readNextPath(url.searchParams.get("next")))
    const isEmpty = yield* people.isEmpty
    return show("Sign in", isEmpty ? html`${notice("warning", noPeopleYet)}${renderForm("")}` : renderForm(""))
  }),
  post: Effect.fnUntraced(function* ({ address, form: sent, known_browser, url }) {
    const email = sent.text("email")
    const claim = {
      email,
      password: sent.exact("password"),
      address,
      known_browser: known_browser && Redacted.value(known_browser)
    }
    return yield* People.use((people) => people.signIn(claim)).pipe(
      Effect.map((signedIn) => startSession(signedIn, readNextPath(url.searchParams.get("next")))),
      Effect.catchTags({
        WrongCredentials: ({ message }) => Effect.succeed(show("Sign in", renderForm(email, message), 422)),
        TooManyAttempts: ({ message, seconds }) =>
          Effect.succeed(askToWait("Sign in", renderForm(email, message), seconds))
      })
    )
  })
}
