// What makes the console livelier. Every page works without it.

const announce = (button, text) => {
  const before = [...button.childNodes]
  if (button.dataset.busy) return
  button.dataset.busy = "yes"
  button.replaceChildren(text)
  setTimeout(() => {
    button.replaceChildren(...before)
    delete button.dataset.busy
  }, 2000)
}

// a button that copies the text of an element: data-copy="id of the element"
for (const button of document.querySelectorAll("[data-copy]")) {
  if (navigator.clipboard === undefined) continue // no secure connection: there is nothing to copy with
  button.hidden = false
  button.setAttribute("aria-live", "polite")
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy)?.textContent ?? ""
    try {
      await navigator.clipboard.writeText(text.trim())
      announce(button, "Copied")
    } catch {
      announce(button, "Not copied")
    }
  })
}

// a form that asks before it is sent: data-confirm="question"
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault()
  })
}

// a password can be looked at while it is typed; the form sends a password field, so that browsers and managers know it
for (const input of document.querySelectorAll('input[type="password"]')) {
  const button = document.createElement("button")
  const show = (isShown) => {
    input.type = isShown ? "text" : "password"
    button.setAttribute("aria-pressed", String(isShown))
  }
  const [label] = input.labels
  label.id = `${input.id}-label`
  button.type = "button"
  button.className = "button plain show-password"
  button.textContent = "Show password"
  button.setAttribute("aria-describedby", label.id) // which one, where a form has two
  button.setAttribute("aria-pressed", "false")
  button.addEventListener("click", () => show(input.type === "password"))
  input.spellcheck = false // no checker may be sent what is shown
  input.autocapitalize = "none"
  input.parentElement.append(button) // below what is wrong with the field
  input.form.addEventListener("submit", () => show(false))
  addEventListener("pagehide", () => show(false)) // browsers keep what stands in text fields for a reload and the way back
}

// fields whose change sends their form: data-autosubmit
for (const field of document.querySelectorAll("[data-autosubmit]")) {
  field.addEventListener("change", () => field.form?.requestSubmit())
}

// a form is sent once, however often its button is pressed
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return
    if (form.dataset.sent === "yes") return event.preventDefault()
    form.dataset.sent = "yes"
    event.submitter?.setAttribute("aria-busy", "true")
  })
}
// back from the browser's memory it may be sent again
addEventListener("pageshow", (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy")
})

// the page is asked again while this element is on it: data-poll="milliseconds"
const poll = document.querySelector("[data-poll]")
if (poll) setTimeout(() => location.reload(), Number(poll.dataset.poll))

// what is shown once stays out of a reload, which would send its form again: data-address="path"
const shown = document.querySelector("[data-address]")
if (shown) history.replaceState(null, "", shown.dataset.address)

// who leaves before something that is shown once was copied is asked: data-leave="id of its element"; selecting it counts
const once = document.querySelector("[data-leave]")
if (once) {
  const ask = (event) => event.preventDefault()
  const done = () => removeEventListener("beforeunload", ask)
  addEventListener("beforeunload", ask)
  addEventListener("copy", done)
  document.querySelector(`[data-copy="${once.dataset.leave}"]`)?.addEventListener("click", done)
  for (const link of once.querySelectorAll(`a[href="${once.dataset.address}"]`)) link.addEventListener("click", done)
}

// charts say the value under the pointer
for (const chart of document.querySelectorAll("[data-chart]")) {
  const readout = chart.querySelector("[data-readout]")
  const tell = (event) => {
    const spot = event.target.closest("[data-say]")
    if (spot) readout.textContent = spot.dataset.say
  }
  for (const title of chart.querySelectorAll("[data-say] > title")) title.remove()
  chart.addEventListener("pointerover", tell)
  chart.addEventListener("pointerdown", tell)
  chart.addEventListener("pointerleave", () => {
    readout.textContent = ""
  })
}

// on narrow screens navigations scroll sideways: the page one is on is to be seen, in the middle
const showCurrent = () => {
  for (const current of document.querySelectorAll("nav li [aria-current]")) {
    const rail = current.closest("ul")
    const before = current.getBoundingClientRect().left - rail.getBoundingClientRect().left + rail.scrollLeft
    rail.scrollLeft = before - (rail.clientWidth - current.offsetWidth) / 2
  }
}
showCurrent()
addEventListener("resize", showCurrent)

document.querySelector("[data-focus]")?.focus()
