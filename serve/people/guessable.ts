/**
 * Whether a password can be guessed: from lists of common passwords, words, names and famous phrases, from combinations
 * of them, and from dates, repetitions, sequences and rows of keys. The lists take 30 MB and a fifth of a second, so
 * import this module only when a password is chosen.
 */
import { ZxcvbnFactory } from "@zxcvbn-ts/core"
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common"
import { makeKnownWords } from "./known-words.ts"

/** Ten billion. Guessing three of the thousand most frequent words takes fewer. */
const minGuesses = 1e10
/** This many characters take a fifth of a second at worst, during which the process is blocked; 200 take seconds. */
const maxChecked = 40
const maxLeetSubstitutions = 10

const passwords = dictionary["passwords-common"]
const diceware = dictionary["diceware-common"]

const estimate = new ZxcvbnFactory(
  {
    dictionary: { passwords, diceware }, // zxcvbn takes the words of `diceware` as randomly chosen, those of other keys as ranked
    graphs: adjacencyGraphs,
    l33tMaxSubstitutions: maxLeetSubstitutions
  },
  makeKnownWords(passwords, diceware)
)

/** The person's own address and the name of this product are guessed first. */
export const isGuessable = (password: string, email: string): boolean => {
  const ownWords = ["larder", ...email.split("@"), ...email.split(/[@.]/)]
  return estimate.check([...password.normalize("NFKC")].slice(0, maxChecked).join(""), ownWords).guesses < minGuesses
}
