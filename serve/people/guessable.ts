/**
 * Whether a password can be guessed: from lists of common passwords, words and names, and from dates, repetitions,
 * sequences and rows of keys. The lists take 20 MB and a quarter of a second, so import this where a password is chosen.
 */
import { ZxcvbnFactory } from "@zxcvbn-ts/core"
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common"

/** 0 to 4; 3 takes more than 100 million guesses by its estimate. */
const leastScore = 3
/** A fifth of a second at worst, in which nothing else is answered; with 200 characters it would be seconds. */
const looked = 40
const leetSubstitutions = 10

const estimate = new ZxcvbnFactory({
  dictionary,
  graphs: adjacencyGraphs,
  l33tMaxSubstitutions: leetSubstitutions
})

/** The person's own address and the name of this place are guessed first. */
export const isGuessable = (password: string, email: string): boolean => {
  const own = ["larder", ...email.split("@"), ...email.split(/[@.]/)]
  return estimate.check([...password].slice(0, looked).join(""), own).score < leastScore
}
