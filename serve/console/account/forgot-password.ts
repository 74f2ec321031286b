/**
 * `/forgot-password`: a person without a session asks for a link to choose a new password. What it answers depends only on
 * the syntax of the address and on how often the form was sent.
 */
import { Effect } from "effect"
import type { PasswordResets } from "../../people/index.ts"
import { button, field, problemSummary } from "../web/form.ts"
import { type Html, html, linkButton, notice } from "../web/html.ts"
import { askToWait, type PublicPage, show } from "../web/page.ts"

export const forgotPasswordPath = "/forgot-password"
const title = "Forgot your password?"

const backLink = html`<p><a href="/sign-in">Back to sign-in</a></p>`

const renderForm = (email: string, problem?: string): Html => html`${problem && problemSummary({ email: problem })}
<p>Enter the e-mail address that you sign in with. You get a link to choose a new password.</p>
<section aria-label="Your address"><form method="post">
${field({ name: "email", label: "E-mail", type: "email", value: email, error: problem, autocomplete: "username", inputmode: "email", required: true, maxlength: 254, autofocus: email === "" })}
<div class="row">${button("Send the link")}</div>
</form></section>
${backLink}`

const sentPages = {
  smtp: (email: string) =>
    show(
      "Check your mail",
      html`<p>If someone signs in with <strong>${email}</strong>, a mail with a link is on its way. The link works once, within an hour. Until you use it, your password stays as it is.</p>
<p>No mail after a few minutes? Look into the folder for spam, and check the address above. At most three such mails a day go to one address.</p>
<p>${linkButton("/sign-in", "Back to sign-in")} ${linkButton(forgotPasswordPath, "Try another address")}</p>`
    ),
  printed: (email: string) =>
    show(
      "Look at the server's output",
      html`<p>This server has no mail server. If someone signs in with <strong>${email}</strong>, it has printed a link where it was started. The link works once, within an hour.</p>
<p>${linkButton("/sign-in", "Back to sign-in")}</p>`
    )
}

const offPage = show(
  title,
  html`${notice("warning", "This server sends no mail.")}
<p>Ask its operator for a link to choose a new password.</p>
${backLink}`
)

/** `resets` is undefined if the server sends no mail. */
export const makeForgotPasswordPage = (resets: PasswordResets | undefined): PublicPage => ({
  path: forgotPasswordPath,
  get: () => Effect.succeed(resets === undefined ? offPage : show(title, renderForm(""))),
  post: ({ address, form }) => {
    if (resets === undefined) return Effect.succeed(offPage)
    const email = form.text("email")
    return resets.request(email, address).pipe(
      Effect.as(sentPages[resets.delivery](email)),
      Effect.catchTags({
        InvalidEmail: ({ message }) => Effect.succeed(show(title, renderForm(email, message), 422)),
        TooManyAttempts: ({ message, seconds }) => Effect.succeed(askToWait(title, renderForm(email, message), seconds))
      })
    )
  }
})
