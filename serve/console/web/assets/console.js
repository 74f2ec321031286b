// Enhances the console. Every page works without it.

const announce = (button, text) => {
  const content = [...button.childNodes]
  if (button.dataset.busy) return
  button.dataset.busy = "yes"
  button.replaceChildren(text)
  setTimeout(() => {
    button.replaceChildren(...content)
    delete button.dataset.busy
  }, 2000)
}

// a button that copies the text of an element: data-copy="id of the element"
for (const button of document.querySelectorAll("[data-copy]")) {
  if (navigator.clipboard === undefined) continue // without a secure connection there is no clipboard
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

// a form that requires confirmation: data-confirm="question"
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault()
  })
}

// a button shows the typed password; the form sends a password field, so that password managers recognise it
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
  button.setAttribute("aria-describedby", label.id) // which password, if a form has two
  button.setAttribute("aria-pressed", "false")
  button.addEventListener("click", () => show(input.type === "password"))
  input.spellcheck = false // a spell checker might send the shown password
  input.autocapitalize = "none"
  input.parentElement.append(button) // below the field's error
  input.form.addEventListener("submit", () => show(false))
  addEventListener("pagehide", () => show(false)) // browsers restore text fields after a reload and a return
}

// a change of these fields sends their form: data-autosubmit
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
// a page restored from the back/forward cache may send its forms again
addEventListener("pageshow", (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy")
})

// reloads the page while this element is on it: data-poll="milliseconds"
const poll = document.querySelector("[data-poll]")
if (poll) setTimeout(() => location.reload(), Number(poll.dataset.poll))

// a page shown once gets another address, because a reload would send its form again: data-address="path"
const shown = document.querySelector("[data-address]")
if (shown) history.replaceState(null, "", shown.dataset.address)

// asks before the page is left if the text that is shown once was not copied: data-leave="id of its element"
const secret = document.querySelector("[data-leave]")
if (secret) {
  const ask = (event) => event.preventDefault()
  const done = () => removeEventListener("beforeunload", ask)
  addEventListener("beforeunload", ask)
  addEventListener("copy", done)
  document.querySelector(`[data-copy="${secret.dataset.leave}"]`)?.addEventListener("click", done)
  for (const link of secret.querySelectorAll(`a[href="${secret.dataset.address}"]`))
    link.addEventListener("click", done)
}

// charts show the value under the pointer
for (const chart of document.querySelectorAll("[data-chart]")) {
  const readout = chart.querySelector("[data-readout]")
  const showValue = (event) => {
    const spot = event.target.closest("[data-say]")
    if (spot) readout.textContent = spot.dataset.say
  }
  for (const title of chart.querySelectorAll("[data-say] > title")) title.remove()
  chart.addEventListener("pointerover", showValue)
  chart.addEventListener("pointerdown", showValue)
  chart.addEventListener("pointerleave", () => {
    readout.textContent = ""
  })
}

// on narrow screens navigations scroll sideways: scrolls the current page to the middle
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
