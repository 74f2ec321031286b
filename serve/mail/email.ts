/** Checks the syntax of e-mail addresses, and normalises them. */

const pattern = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cs}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cs}]{1,189}$/u

/** The format in which addresses are stored and compared; undefined if the text is not an address. */
export const parseEmail = (text: string): string | undefined => {
  const email = text.trim().normalize("NFC").toLowerCase()
  const [, domain = ""] = email.split("@")
  const isDomain = domain.split(".").every((label) => label !== "" && !label.startsWith("-") && !label.endsWith("-"))
  return pattern.test(email) && isDomain ? email : undefined
}
