/**
 * Whether a password can be guessed: from lists of common passwords and words, the person's own address and the name of
 * this product, and from dates, repetitions, sequences and rows of keys. The lists take 30 MB and a fifth of a second, so
 * import this module only when a password is chosen.
 */
import { ZxcvbnFactory } from "@zxcvbn-ts/core"
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common"

/** Ten billion. */
const minGuesses = 1e10
/** This many characters take a fifth of a second at worst, during which the process is blocked; 200 take seconds. */
const maxChecked = 40
const maxLeetSubstitutions = 10

const estimate = new ZxcvbnFactory({
  // zxcvbn takes the words of `diceware` as randomly chosen, those of other keys as ranked
  dictionary: { passwords: dictionary["passwords-common"], diceware: dictionary["diceware-common"] },
  graphs: adjacencyGraphs,
  l33tMaxSubstitutions: maxLeetSubstitutions
})

const signs = /[^\p{L}\p{N}]/gu

export const isGuessable = (password: string, email: string): boolean => {
  const ownWords = ["larder", ...email.split("@"), ...email.split(/[@.]/)]
  const typed = [...password.normalize("NFKC")].slice(0, maxChecked).join("")
  const countGuesses = (text: string) => estimate.check(text, ownWords).guesses
  // zxcvbn counts each sign between words as random, although people repeat the same one
  const guessesAsWords = countGuesses(typed.replace(signs, "")) * 10 ** new Set(typed.match(signs)).size
  return Math.min(countGuesses(typed), guessesAsWords) < minGuesses
}
