// Enhances the console. Every page works without it.

const showBriefly = (button, text) => {
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
      showBriefly(button, "Copied")
    } catch {
      showBriefly(button, "Not copied")
    }
  })
}

// a button shows the typed password; sending the form hides it, so that password managers recognise its field
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

// the ceilings of a new auto-recharge follow its amount until a person edits them
for (const fields of document.querySelectorAll("[data-suggest-ceilings]")) {
  const amount = fields.querySelector('[name="recharge_amount"]')
  for (const [name, factor] of Object.entries(JSON.parse(fields.dataset.suggestCeilings))) {
    const ceiling = fields.querySelector(`[name="${name}"]`)
    const suggest = () => (Number(amount.value.replace(/[$,\s]/g, "")) * factor).toFixed(2)
    if (ceiling.value !== suggest()) continue // it was edited before the form was shown again
    const followAmount = () => {
      if (Number(suggest()) > 0) ceiling.value = suggest()
    }
    amount.addEventListener("input", followAmount)
    ceiling.addEventListener("input", () => amount.removeEventListener("input", followAmount))
  }
}

// a form is sent only once, even if its button is pressed again
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener("submit", (event) => {
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

// a page shown once gets another address, because a reload would send its form again: data-replace-address="path"
const shown = document.querySelector("[data-replace-address]")
if (shown) history.replaceState(null, "", shown.dataset.replaceAddress)

// asks before the page is left, unless its secret text was copied: data-copy-before-leaving="id of the text's element"
const secret = document.querySelector("[data-copy-before-leaving]")
if (secret) {
  const askToStay = (event) => event.preventDefault()
  const stopAsking = () => removeEventListener("beforeunload", askToStay)
  addEventListener("beforeunload", askToStay)
  addEventListener("copy", stopAsking)
  document.querySelector(`[data-copy="${secret.dataset.copyBeforeLeaving}"]`)?.addEventListener("click", stopAsking)
  for (const link of secret.querySelectorAll(`a[href="${secret.dataset.replaceAddress}"]`))
    link.addEventListener("click", stopAsking)
}

// charts show the value under the pointer
for (const chart of document.querySelectorAll("[data-chart]")) {
  const readout = chart.querySelector("[data-readout]")
  const showValue = (event) => {
    const spot = event.target.closest("[data-text]")
    if (spot) readout.textContent = spot.dataset.text
  }
  for (const title of chart.querySelectorAll("[data-text] > title")) title.remove()
  chart.addEventListener("pointerover", showValue)
  chart.addEventListener("pointerdown", showValue)
  chart.addEventListener("pointerleave", () => {
    readout.textContent = ""
  })
}

// on narrow screens navigation bars scroll sideways: scrolls the current item to the middle
const showCurrent = () => {
  for (const current of document.querySelectorAll("nav li [aria-current]")) {
    const list = current.closest("ul")
    const offset = current.getBoundingClientRect().left - list.getBoundingClientRect().left + list.scrollLeft
    list.scrollLeft = offset - (list.clientWidth - current.offsetWidth) / 2
  }
}
showCurrent()
addEventListener("resize", showCurrent)

document.querySelector("[data-focus]")?.focus()
