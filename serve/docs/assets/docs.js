// Enhances the guides. Every page works without it.

// on a phone, scrolls the horizontal list of guides to the current one
const strip = document.querySelector(".guides ul")
const current = strip?.querySelector("[aria-current]")
if (current) strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2

// adds a copy button to commands and code
const copy = async (button, text) => {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = "Copied"
  } catch {
    button.textContent = "Not copied"
  }
  setTimeout(() => {
    button.textContent = "Copy"
  }, 2000)
}

if (navigator.clipboard !== undefined) {
  for (const pre of document.querySelectorAll("pre[data-copy]")) {
    const text = pre.textContent
    const button = document.createElement("button")
    button.type = "button"
    button.className = "button plain copy"
    button.textContent = "Copy"
    button.setAttribute("aria-label", `Copy: ${pre.getAttribute("aria-label")}`)
    button.addEventListener("click", () => copy(button, text))
    const wrapper = document.createElement("div")
    wrapper.className = "copyable"
    pre.replaceWith(wrapper)
    wrapper.append(pre, button)
  }
}
