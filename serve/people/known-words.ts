/**
 * A zxcvbn matcher that treats a password joined from words, common passwords, numbers and famous phrases as one match.
 * Without it, zxcvbn rates any password of four parts as strong, even if all parts are common, and detects no phrases.
 * Separators, capitals, and digits in place of letters add few guesses.
 */
import { readFileSync } from "node:fs"
import { type Match, type Matcher, MatcherBaseClass, type MatchOptions } from "@zxcvbn-ts/core"

const readText = (file: string) => readFileSync(new URL(`./guessed/${file}.txt`, import.meta.url), "utf8").trim()

/** Half of the diceware words, which five dice select: none is more likely than another. */
const dicewareRank = 6 ** 5 / 2
const frequentWordRank = 1_000
const minPhraseWords = 3

/** All parts of a phrase with at least three words are guessed as well. */
const listParts = (phrase: string): ReadonlyArray<string> => {
  const words = phrase.split(" ")
  return words.flatMap((_, first) =>
    words.slice(first + minPhraseWords - 1).map((_, more) => words.slice(first, first + minPhraseWords + more).join(""))
  )
}

/** The number of guesses until each word is found. `passwords` begins with the most common one. */
const makeRanks = (passwords: ReadonlyArray<string | number>, diceware: ReadonlyArray<string | number>) => {
  const ranks = new Map<string, number>()
  const add = (word: string | number, rank: number) =>
    ranks.set(String(word), Math.min(rank, ranks.get(String(word)) ?? rank))
  for (const [index, word] of passwords.entries()) add(word, index + 1)
  for (const word of diceware) add(word, dicewareRank)
  for (const word of readText("frequent-words").split(/\s+/)) add(word, Math.min(10 ** word.length, frequentWordRank))
  const phrases = new Set(readText("famous-phrases").split("\n").flatMap(listParts))
  for (const phrase of phrases) add(phrase, phrases.size)
  return ranks
}

const year = /^(19|20)\d\d$/
const yearRank = 100
const rankNumber = (word: string) => {
  if (year.test(word)) return yearRank
  return /^\d{1,3}$/.test(word) ? 10 ** word.length : Number.POSITIVE_INFINITY
}

const letters: Readonly<Record<string, string>> = {
  ...{ "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g" },
  ...{ "@": "a", $: "s", "!": "i", "€": "e", "|": "l", "+": "t" }
}
const lettersWithL: Readonly<Record<string, string>> = { ...letters, "1": "l", "!": "l" }
/** The factor by which a word costs more guesses if signs replace its letters. */
const replacedFactor = 4

/** The characters of words, each with its index in the password. */
interface Reading {
  readonly indexes: ReadonlyArray<number>
  /** As typed, and with digits and signs replaced by the letters that they resemble. */
  readonly spellings: readonly [typed: string, ...replaced: ReadonlyArray<string>]
}

const makeReading = (password: string, isWordCharacter: RegExp): Reading => {
  const indexes = Array.from(password, (_, index) => index).filter((index) =>
    isWordCharacter.test(password.charAt(index))
  )
  const typed = indexes.map((index) => password.charAt(index))
  const lower = (characters: ReadonlyArray<string>) =>
    characters.map((character) => (character.toLowerCase().length === 1 ? character.toLowerCase() : character)).join("")
  const replaced = [letters, lettersWithL].map((table) =>
    lower(typed.map((character) => table[character] ?? character))
  )
  return { indexes, spellings: [lower(typed), ...replaced] }
}

/** One reading with signs as separators between words, and one with signs as letters, if it differs. */
const listReadings = (password: string): ReadonlyArray<Reading> =>
  [/[\p{L}\p{N}]/u, /[\p{L}\p{N}@$!€|+]/u]
    .map((isWordCharacter) => makeReading(password, isWordCharacter))
    .filter(({ indexes }, position, [first]) => position === 0 || indexes.length !== first?.indexes.length)

const maxWords = 10
const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))

/** Guesses for the signs between the words, and for the letters that are capitals. */
const countVariations = (token: string) => {
  const between = new Set(token.replace(/[\p{L}\p{N}]/gu, "")).size
  const capitals = token.replace(/[^\p{Lu}]/gu, "").length
  return 10 ** between * (/\p{Ll}/u.test(token) ? 2 ** capitals : 2)
}

/**
 * The fewest guesses for each substring that begins at `first` and consists of whole words: the guesses for its words,
 * in any order, as zxcvbn counts. `rankOf` returns the guesses for a word.
 */
const findFewestGuesses = (first: number, length: number, rankOf: (from: number, to: number) => number) => {
  const fewest = Array.from({ length: length + 1 }, () => Array<number>(maxWords + 1).fill(Number.POSITIVE_INFINITY))
  const found = fewest[first]
  if (found !== undefined) found[0] = 1
  fewest.forEach((before, from) => {
    if (from < first || !before.some(Number.isFinite)) return
    for (let to = from + 1; to <= length; to++) {
      const rank = rankOf(from, to)
      if (rank === Number.POSITIVE_INFINITY) continue
      fewest[to]?.forEach((known, words, counts) => {
        if (words > 0) counts[words] = Math.min(known, rank * (before[words - 1] ?? Number.POSITIVE_INFINITY))
      })
    }
  })
  return fewest.map((counts) => Math.min(...counts.map((guesses, words) => guesses * factorial(words))))
}

const pattern = "knownWords"

/** The matcher to pass to zxcvbn as `knownWords`. */
export const makeKnownWords = (
  passwords: ReadonlyArray<string | number>,
  diceware: ReadonlyArray<string | number>
): Readonly<Record<typeof pattern, Matcher>> => {
  const ranks = makeRanks(passwords, diceware)
  class KnownWords extends MatcherBaseClass {
    override match({ password, userInputsOptions }: MatchOptions): Array<Match> {
      const ownRanks = new Map(Object.entries(userInputsOptions?.rankedDictionary ?? {}))
      const rankOf = (word: string) =>
        Math.min(
          ranks.get(word) ?? Number.POSITIVE_INFINITY,
          ownRanks.get(word) ?? Number.POSITIVE_INFINITY,
          rankNumber(word)
        )
      return listReadings(password).flatMap((reading) => findMatches(password, reading, rankOf))
    }
  }
  return {
    [pattern]: { Matching: KnownWords, feedback: () => null, scoring: ({ wordGuesses }) => Number(wordGuesses) }
  }
}

const findMatches = (
  password: string,
  { indexes, spellings }: Reading,
  rankOf: (word: string) => number
): Array<Match> => {
  const [typed, ...replaced] = spellings
  const ranks = indexes.map((_, from) =>
    indexes.slice(from).map((_, more) => {
      const rank = (spelling: string) => rankOf(spelling.slice(from, from + more + 1))
      return Math.min(rank(typed), ...replaced.map((spelling) => rank(spelling) * replacedFactor))
    })
  )
  const rankBetween = (from: number, to: number) => ranks[from]?.[to - from - 1] ?? Number.POSITIVE_INFINITY
  return indexes.flatMap((i, first) =>
    findFewestGuesses(first, indexes.length, rankBetween).flatMap((guesses, end) => {
      const j = indexes[end - 1]
      if (end - first < 4 || j === undefined || guesses === Number.POSITIVE_INFINITY) return []
      const token = password.slice(i, j + 1)
      return [{ pattern, i, j, token, wordGuesses: guesses * countVariations(token) }]
    })
  )
}
