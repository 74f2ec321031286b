/** The document around every page: head, navigation, the notice about the last action, and the content. */
import { renderSampleBanner } from "../../api/index.ts"
import { assetPaths } from "./assets.ts"
import { postForm } from "./form.ts"
import { type Html, html, notice, timeTag, usdText } from "./html.ts"
import type { Flash, PageContext, ShownPage } from "./page.ts"

export const signOutPath = "/sign-out"

/** What the layout shows around a page. */
export interface Frame {
  /** Path of the page. */
  readonly path: string
  /** Undefined on pages that require no sign-in. */
  readonly signedIn?: Pick<PageContext, "account" | "api" | "formOwner" | "person">
  readonly navigation: ReadonlyArray<{ readonly path: string; readonly label: string }>
  /** Why the account's auto-recharge was stopped, if it was. */
  readonly rechargeNotice?: Html | undefined
  /** The notice about bundled samples, if the page shows data that may contain them. */
  readonly sampleNotice?: string | undefined
}

/** The item that the path belongs to: the longest matching prefix. */
const findCurrent = ({ navigation, path }: Frame) =>
  navigation
    .filter((item) => path === item.path || path.startsWith(item.path === "/" ? "//" : `${item.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0]

const logo = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><rect x="3" y="3" width="18" height="18" rx="4"/><path d="M7 9.5h10M7 14.5h10"/></svg>`

/** On every page: the operator knows why. */
const suspensionNotice = ({ account: { name, suspended_at } }: NonNullable<Frame["signedIn"]>) =>
  suspended_at !== null &&
  notice(
    "bad",
    html`<p>${name} is suspended since ${timeTag(suspended_at)}. Every API call is refused, and no credits can be bought, until the operator resumes the account.</p>`
  )

const header = (frame: Frame) => {
  const { navigation, path, signedIn } = frame
  const current = findCurrent(frame)
  return html`<header class="top no-print"><div class="container">
<a class="brand" href="/">${logo}Larder</a>
${
  signedIn &&
  html`<nav aria-label="Main"><ul>${navigation.map(
    (item) =>
      html`<li><a href="${item.path}"${item === current && html` aria-current="${item.path === path ? "page" : "true"}"`}>${item.label}</a></li>`
  )}</ul></nav>
<div class="who"><a class="balance" href="/billing" title="Balance of ${signedIn.account.name}"><small>Balance</small> ${usdText(signedIn.account.balance_credits)}</a>
${postForm(signedIn, html`<button class="button plain" type="submit" title="Signed in as ${signedIn.person.email}">Sign out</button>`, { action: signOutPath })}</div>`
}
</div></header>`
}

/** What every document has in its head. */
export const documentHead = (title: string): Html => html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${assetPaths.icon}">
<link rel="stylesheet" href="${assetPaths.style}">`

export const renderLayout = async (frame: Frame, { body, title }: ShownPage, flash?: Flash): Promise<string> => {
  const { rechargeNotice, sampleNotice, signedIn } = frame
  const document = html`<!doctype html>
<html lang="en">
<head>
${documentHead(`${title} – Larder`)}
<script type="module" src="${assetPaths.script}"></script>
</head>
<body class="${signedIn ? "signed" : "outside"}">
<a class="skip" href="#content">Skip to the content</a>
${header(frame)}
${renderSampleBanner(sampleNotice)}
<main id="content" tabindex="-1"><div class="container">
${signedIn && suspensionNotice(signedIn)}${rechargeNotice}${flash && notice(flash.tone, flash.text)}
<h1>${title}</h1>
${body}
</div></main>
<footer class="no-print"><div class="container">${
    signedIn
      ? html`<p>Signed in to ${signedIn.account.name}. All times, days and months are in UTC. 1,000 credits are $1.00. <a href="${signedIn.api}/docs">Docs</a></p>`
      : html`<p>Larder: pay-per-call market data.</p>`
  }</div></footer>
</body>
</html>
`
  return String(await document)
}
