/** The console page where an operator sees the simulated payments, and simulates faults of the processor's answers. */
import { Effect } from "effect"
import { type Faults, noFaults, type PaymentView, type SimulatedEvent, type Simulator } from "../../billing/index.ts"
import { button, choices, field, postForm, type SentForm } from "../web/form.ts"
import { centsText, html, notice, pluralize, renderEmptyState, section, stackedTable, timeTag } from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { simulatedCardText, simulatedPaymentPage, simulatedPaymentPath, stateBadges } from "./control-payment.ts"

const shownPayments = 50
const shownEvents = 20
/** Longer than the console waits for a response. */
const maxSeconds = 20

const faultForm = (context: PageContext, faults: Faults) =>
  postForm(
    context,
    html`${choices({
      type: "checkbox",
      name: "on",
      legend: "Answers",
      options: [
        { value: "outage", label: "Outage", hint: "Nothing is answered." },
        {
          value: "lose_next_answer",
          label: "Lose the next answer",
          hint: "The next payment is made, but its answer never arrives."
        }
      ],
      chosen: [...(faults.outage ? ["outage"] : []), ...(faults.lose_next_answer ? ["lose_next_answer"] : [])]
    })}
${field({
  name: "slow",
  label: "Seconds that each answer takes",
  hint: "0 to 20; the console waits for 10.",
  inputmode: "numeric",
  value: String(faults.slow_ms / 1000)
})}
<p>${button("Apply")}</p>`
  )

/** The simulated faults in words; empty if there are none. */
const faultTexts = ({ lose_next_answer, outage, slow_ms }: Faults): ReadonlyArray<string> => [
  ...(outage ? ["nothing is answered"] : []),
  ...(lose_next_answer ? ["the answer to the next payment is lost"] : []),
  ...(slow_ms > 0 ? [`each answer takes ${pluralize(slow_ms / 1000, "second")}`] : [])
]

const currentFaults = (context: PageContext, faults: Faults) => {
  const texts = faultTexts(faults)
  if (texts.length === 0) return html`<p>No faults are simulated now.</p>`
  const normal = postForm(context, button("Back to normal", "plain", { name: "normal", value: "yes" }))
  return notice("warning", html`<p>Simulated now: ${texts.join(", ")}.</p>${normal}`)
}

const readFaults = (form: SentForm): Faults | undefined => {
  const seconds = Number(form.text("slow") || "0")
  if (!(seconds >= 0 && seconds <= maxSeconds)) return undefined
  const faults = form.all("on")
  return {
    outage: faults.includes("outage"),
    lose_next_answer: faults.includes("lose_next_answer"),
    slow_ms: Math.round(seconds * 1000)
  }
}

const paymentTable = (payments: ReadonlyArray<PaymentView>) =>
  payments.length === 0
    ? renderEmptyState("No payments yet", "A payment made in the console appears here.")
    : stackedTable("Payments, newest first", payments, [
        [
          "Payment",
          (view) =>
            html`<a href="${simulatedPaymentPath(view)}"><code class="payment-id">${view.payment.payment_id}</code></a>`
        ],
        ["Created", ({ payment }) => timeTag(payment.made_at)],
        ["Amount", ({ payment }) => centsText(payment.cents), "numeric"],
        ["State", stateBadges],
        ["Card", ({ payment }) => simulatedCardText(payment)]
      ])

const eventTable = (events: ReadonlyArray<SimulatedEvent>) =>
  events.length === 0
    ? renderEmptyState("No events yet", "The events that the processor sends to the console appear here.")
    : stackedTable("Events, newest first", events, [
        ["Event", ({ type }) => html`<code>${type}</code>`],
        ["Payment", ({ payment_id }) => html`<code class="payment-id">${payment_id}</code>`],
        ["Created", ({ made_at }) => timeTag(made_at)],
        ["Attempts", ({ attempts }) => attempts, "numeric"],
        ["Answer", ({ answer }) => answer ?? "waiting"]
      ])

const showOverview = Effect.fnUntraced(function* (
  simulator: Simulator["Service"],
  context: PageContext,
  problem?: string
) {
  const faults = yield* simulator.faults
  const payments = yield* simulator.listPayments(shownPayments)
  const events = yield* simulator.listEvents(shownEvents)
  const body = html`${problem !== undefined && notice("bad", problem)}
<p class="lead">This built-in card processor moves no money. It can simulate missing, lost and slow answers.</p>
${section("Faults", html`${currentFaults(context, faults)}${faultForm(context, faults)}`)}
${section("Payments", paymentTable(payments))}
${section("Webhook events", eventTable(events))}`
  return show("Simulator", body, problem === undefined ? 200 : 422)
})

export const simulatorPages = (simulator: Simulator["Service"]): ReadonlyArray<Page> => [
  {
    path: "/simulator",
    nav: "Simulator",
    operatorsOnly: true,
    get: (context) => showOverview(simulator, context),
    post: (context) => {
      const { form } = context
      const faults = form.has("normal") ? noFaults : readFaults(form)
      if (faults === undefined) return showOverview(simulator, context, `Enter 0 to ${maxSeconds} seconds.`)
      const isNormal = faultTexts(faults).length === 0
      const text = isNormal ? "Everything is back to normal." : "These faults are simulated from now on."
      return Effect.as(simulator.setFaults(faults), redirect("/simulator", text))
    }
  },
  simulatedPaymentPage(simulator)
]
