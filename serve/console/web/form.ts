/** Reads the values of a sent form, and renders the forms of pages. */
import { timingSafeEqual } from "node:crypto"
import { creditsOf } from "../../ledger/index.ts"
import { type Html, type HtmlPart, html } from "./html.ts"

/** The fields of a sent form. */
export interface SentForm {
  /** Trimmed and without `controls`; empty if it is missing. */
  readonly text: (name: string) => string
  /** Exactly as typed, for passwords. */
  readonly exact: (name: string) => string
  readonly all: (name: string) => ReadonlyArray<string>
  /** Whether a checkbox is on, or a button was pressed. */
  readonly has: (name: string) => boolean
}

/** Control characters except line breaks and tabs, lone surrogates, line separators, and bidirectional controls. */
const controls = /[^\P{Cc}\n\r\t]|[\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu
const visibleCharacter = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}]/u
export const isVisible = (text: string): boolean => visibleCharacter.test(text)

export const makeForm = (fields: URLSearchParams): SentForm => ({
  text: (name) => (fields.get(name) ?? "").replace(controls, "").trim(),
  exact: (name) => fields.get(name) ?? "",
  all: (name) => fields.getAll(name),
  has: (name) => fields.has(name)
})

const groupedAmount = /^\d{1,3}(,\d{3})+(\.|$)/

/**
 * Credits for a typed amount in dollars: `250`, `$1,000.50`. Undefined if the text is not an amount, is negative, or
 * has commas anywhere except between thousands: `10,0000` could mean two different amounts.
 */
export const parseCredits = (text: string): number | undefined => {
  const amount = text.replace(/^\$\s*/, "")
  return creditsOf(groupedAmount.test(amount) ? amount.replaceAll(",", "") : amount)
}

/** The same in whole cents. */
export const parseCents = (text: string): number | undefined => {
  const credits = parseCredits(text)
  return credits === undefined || credits % 10 !== 0 ? undefined : credits / 10
}

/** Problems by field name, in words for the person. */
export type Problems = Readonly<Record<string, string>>

interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly type?: "text" | "email" | "password" | "date" | "search"
  readonly value?: string
  readonly hint?: HtmlPart
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

const describedByAttribute = (id: string, hint: HtmlPart, error?: string) => {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ")
  return ids && html` aria-describedby="${ids}"`
}
const hintLine = (id: string, hint: HtmlPart) => hint && html`<p class="hint" id="${id}-hint">${hint}</p>`
const errorLine = (id: string, error: string | undefined) =>
  error && html`<p class="error" id="${id}-error">${error}</p>`

/** A label with its hint, its error and the input, linked for screen readers. */
export const field = (options: FieldOptions): Html => {
  const { autocomplete = "off", error, hint, inputmode, maxlength, name, placeholder, prefix } = options
  const input = html`<input id="${name}" name="${name}" type="${options.type ?? "text"}" value="${options.value ?? ""}"
 autocomplete="${autocomplete}"${inputmode && html` inputmode="${inputmode}"`}${
   maxlength !== undefined && html` maxlength="${maxlength}"`
 }${placeholder && html` placeholder="${placeholder}"`}${options.required && html` required`}${
   options.autofocus && html` autofocus`
 }${describedByAttribute(name, hint, error)}${error && html` aria-invalid="true"`}>`
  return html`<div class="field${error ? " wrong" : ""}"><label for="${name}">${options.label}</label>${hintLine(name, hint)}${
    prefix === undefined ? input : html`<span class="prefixed"><span aria-hidden="true">${prefix}</span>${input}</span>`
  }${errorLine(name, error)}</div>`
}

export const dollarField = (options: FieldOptions): Html => field({ inputmode: "decimal", prefix: "$", ...options })

export const hiddenInput = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

interface SelectOption {
  readonly value: string
  readonly label: string
  readonly hint?: HtmlPart
}
export interface OptionGroup {
  readonly label: string
  readonly options: ReadonlyArray<SelectOption>
}

/** A drop-down list with one choice. `allLabel` is the label of a first option without a value, such as `All keys`. */
export const select = ({
  allLabel,
  label,
  name,
  options,
  value
}: {
  readonly name: string
  readonly label: string
  readonly allLabel?: string
  readonly options: ReadonlyArray<SelectOption | OptionGroup>
  readonly value?: string | undefined
}): Html => {
  const renderOption = (option: SelectOption) =>
    html`<option value="${option.value}"${option.value === value && html` selected`}>${option.label}</option>`
  const allOption = allLabel === undefined ? [] : [{ value: "", label: allLabel }]
  const items = [...allOption, ...options].map((item) =>
    "options" in item
      ? html`<optgroup label="${item.label}">${item.options.map(renderOption)}</optgroup>`
      : renderOption(item)
  )
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${items}</select></div>`
}

/** Checkboxes or radio buttons under one legend. */
export const choices = ({
  chosen,
  error,
  legend,
  name,
  id = name,
  options,
  type
}: {
  readonly type: "checkbox" | "radio"
  readonly name: string
  /** Unique on the page. */
  readonly id?: string
  readonly legend: string
  readonly options: ReadonlyArray<SelectOption>
  readonly chosen: ReadonlyArray<string>
  readonly error?: string | undefined
}): Html => {
  const inputs = options.map(
    ({ hint, label, value }) =>
      html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${
        chosen.includes(value) && html` checked`
      }><span>${label}${hint && html` <small>${hint}</small>`}</span></label>`
  )
  return html`<fieldset id="${id}" class="choices${error ? " wrong" : ""}"${describedByAttribute(id, null, error)}><legend>${legend}</legend>${inputs}${errorLine(id, error)}</fieldset>`
}

interface FormOwner {
  /** Signature of the person and the account. Every form of a page contains it. */
  readonly formOwner: string
}
const ownerField = "form_owner"

/**
 * A form that changes something, for the person and the account that the page is shown to. `action` is a path of the
 * console and defaults to the page's own.
 */
export const postForm = (
  { formOwner }: FormOwner,
  body: HtmlPart,
  { action, inline }: { readonly action?: string; readonly inline?: boolean } = {}
): Html =>
  html`<form method="post"${action !== undefined && html` action="${action}"`}${inline && html` class="inline"`}>${hiddenInput(ownerField, formOwner)}${body}</form>`

/** False if the page of the form was shown to another person or for another account, or the field is missing. */
export const isOwnForm = ({ formOwner }: FormOwner, form: SentForm): boolean => {
  const [sent, own] = [Buffer.from(form.exact(ownerField)), Buffer.from(formOwner)]
  return sent.length === own.length && timingSafeEqual(sent, own)
}

/** A form that only reads: its fields go into the query. `link` is placed beside its button. */
export const searchForm = (fields: HtmlPart, link?: Html): Html => {
  const show = button("Show", "plain")
  return html`<form method="get" class="filters" role="search">${fields}${link ? html`<p class="row">${show} ${link}</p>` : show}</form>`
}

/** `pressed` is sent with the form if this button was pressed. */
export const button = (
  text: string,
  kind: "primary" | "plain" | "danger" = "primary",
  pressed?: { readonly name: string; readonly value: string }
): Html =>
  html`<button class="button ${kind}" type="submit"${pressed && html` name="${pressed.name}" value="${pressed.value}"`}>${text}</button>`

/** Screen readers read this summary of a form's problems first. */
export const problemSummary = (problems: Problems): Html | null => {
  const items = Object.entries(problems).map(([name, problem]) => html`<li><a href="#${name}">${problem}</a></li>`)
  return items.length === 0
    ? null
    : html`<div class="notice bad" role="alert" tabindex="-1" data-focus><p>Nothing was changed. Please check:</p><ul>${items}</ul></div>`
}
