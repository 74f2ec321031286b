/** Forms: the sent values, and the fields that a page shows. */
import { creditsOf } from "../../ledger/index.ts"
import { type Html, html, type Part } from "./html.ts"

/** The fields of a sent form. */
export interface Form {
  /** The value, trimmed and without `controls`; empty if it is missing. */
  readonly text: (name: string) => string
  /** The value exactly as typed, for passwords. */
  readonly exact: (name: string) => string
  readonly all: (name: string) => ReadonlyArray<string>
  /** Whether a checkbox is on, or a button was the one pressed. */
  readonly has: (name: string) => boolean
}

/** Control characters except line breaks and tabs, lone surrogates, line separators, and marks of text direction. */
const controls = /[^\P{Cc}\n\r\t]|[\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu
const visible = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}]/u
/** Whether the text has any visible character. */
export const isVisible = (text: string): boolean => visible.test(text)

export const formOf = (fields: URLSearchParams): Form => ({
  text: (name) => (fields.get(name) ?? "").replace(controls, "").trim(),
  exact: (name) => fields.get(name) ?? "",
  all: (name) => fields.getAll(name),
  has: (name) => fields.has(name)
})

const grouped = /^\d{1,3}(,\d{3})+(\.|$)/

/**
 * Credits for a typed amount in dollars: `250`, `$1,000.50`. Undefined if the text is not an amount, is negative, or
 * has commas anywhere except between thousands: `10,0000` could mean two different amounts.
 */
export const creditsTyped = (text: string): number | undefined => {
  const amount = text.replace(/^\$\s*/, "")
  return creditsOf(grouped.test(amount) ? amount.replaceAll(",", "") : amount)
}

/** The same in whole cents. */
export const centsTyped = (text: string): number | undefined => {
  const credits = creditsTyped(text)
  return credits === undefined || credits % 10 !== 0 ? undefined : credits / 10
}

/** Problems by field name, in words for the person. */
export type Problems = Readonly<Record<string, string>>

export interface Field {
  readonly name: string
  readonly label: string
  readonly type?: "text" | "email" | "password" | "date" | "search"
  readonly value?: string
  readonly hint?: Part
  readonly error?: string | undefined
  readonly required?: boolean
  readonly autocomplete?: string
  /** `decimal` brings up a keyboard with digits. */
  readonly inputmode?: "decimal" | "numeric" | "email"
  readonly maxlength?: number
  readonly placeholder?: string
  /** A sign before the input, such as `$`. */
  readonly prefix?: string
  readonly autofocus?: boolean
}

/** A label with its hint, its error and the input, linked for screen readers. */
export const field = (of: Field): Html => {
  const { error, hint, name, prefix } = of
  const about = [hint && `${name}-hint`, error && `${name}-error`].filter((id) => id).join(" ")
  const input = html`<input id="${name}" name="${name}" type="${of.type ?? "text"}" value="${of.value ?? ""}"
 autocomplete="${of.autocomplete ?? "off"}"${of.inputmode && html` inputmode="${of.inputmode}"`}${
   of.maxlength !== undefined && html` maxlength="${of.maxlength}"`
 }${of.placeholder && html` placeholder="${of.placeholder}"`}${of.required && html` required`}${
   of.autofocus && html` autofocus`
 }${about && html` aria-describedby="${about}"`}${error && html` aria-invalid="true"`}>`
  return html`<div class="field${error ? " wrong" : ""}"><label for="${name}">${of.label}</label>${hintOf(name, hint)}${
    prefix === undefined ? input : html`<span class="prefixed"><span aria-hidden="true">${prefix}</span>${input}</span>`
  }${errorOf(name, error)}</div>`
}

export interface Option {
  readonly value: string
  readonly label: string
  readonly hint?: Part
}

/** Options under a heading of their own. */
export interface OptionGroup {
  readonly label: string
  readonly options: ReadonlyArray<Option>
}

/** A drop-down list with one choice. */
export const select = (of: {
  readonly name: string
  readonly label: string
  readonly options: ReadonlyArray<Option | OptionGroup>
  readonly value?: string
  readonly hint?: Part
}): Html => {
  const option = ({ label, value }: Option) =>
    html`<option value="${value}"${value === of.value && html` selected`}>${label}</option>`
  const options = of.options.map((one) =>
    "options" in one ? html`<optgroup label="${one.label}">${one.options.map(option)}</optgroup>` : option(one)
  )
  return html`<div class="field"><label for="${of.name}">${of.label}</label>${hintOf(of.name, of.hint)}<select id="${of.name}" name="${
    of.name
  }"${of.hint && html` aria-describedby="${of.name}-hint"`}>${options}</select></div>`
}

/** Checkboxes or radio buttons under one legend. */
export const choices = (of: {
  readonly type: "checkbox" | "radio"
  readonly name: string
  /** Unique on the page; defaults to the name. */
  readonly id?: string
  readonly legend: string
  readonly options: ReadonlyArray<Option>
  readonly chosen: ReadonlyArray<string>
  readonly hint?: Part
  readonly error?: string | undefined
}): Html => {
  const id = of.id ?? of.name
  const about = [of.hint && `${id}-hint`, of.error && `${id}-error`].filter((id) => id).join(" ")
  return html`<fieldset id="${id}" class="choices${of.error ? " wrong" : ""}"${about && html` aria-describedby="${about}"`}><legend>${
    of.legend
  }</legend>${hintOf(id, of.hint)}${of.options.map(
    ({ hint, label, value }) =>
      html`<label class="choice"><input type="${of.type}" name="${of.name}" value="${value}"${
        of.chosen.includes(value) && html` checked`
      }><span>${label}${hint && html` <small>${hint}</small>`}</span></label>`
  )}${errorOf(id, of.error)}</fieldset>`
}

const hintOf = (name: string, hint: Part) => hint && html`<p class="hint" id="${name}-hint">${hint}</p>`
const errorOf = (name: string, error: string | undefined) =>
  error && html`<p class="error" id="${name}-error">${error}</p>`

/** A form that changes something. `action` is a path of the console and defaults to the page's own. */
export const postForm = (of: { readonly action?: string; readonly body: Part; readonly inline?: boolean }): Html =>
  html`<form method="post"${of.action !== undefined && html` action="${of.action}"`}${
    of.inline && html` class="inline"`
  }>${of.body}</form>`

/** A form that only reads: its fields go into the query. */
export const searchForm = (body: Part): Html => html`<form method="get" class="filters" role="search">${body}</form>`

/** With a name, the form contains which button was pressed. */
export const button = (
  text: string,
  kind: "primary" | "plain" | "danger" = "primary",
  named?: { readonly name: string; readonly value: string }
): Html =>
  html`<button class="button ${kind}" type="submit"${named && html` name="${named.name}" value="${named.value}"`}>${text}</button>`

/** Summary of a form's problems; screen readers read it first. */
export const summary = (problems: Problems): Html | null => {
  const all = Object.entries(problems)
  return all.length === 0
    ? null
    : html`<div class="notice bad" role="alert" tabindex="-1" data-focus><p>Nothing was changed. Please look at:</p><ul>${all.map(
        ([name, problem]) => html`<li><a href="#${name}">${problem}</a></li>`
      )}</ul></div>`
}
