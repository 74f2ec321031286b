/**
 * Finds the dictionary word that names the product in a title, product type or collection title.
 *
 * A title is split into segments (at dashes, bars, brackets, commas, colons, and at words such as `with` and `for`).
 * The head noun of the first segment that has one decides: the last known phrase in English, German, Swedish and
 * Turkish, the first one in languages that put the noun first. The text after a `for` is never the head, but its domain
 * counts: a bed for dogs is a dog bed.
 */
import { type DictionaryEntry, loadDictionary } from "./dictionary.ts"
import { type Place, toPlace } from "./taxonomy.ts"
import { splitWords } from "./words.ts"

export interface CategoryReading extends Place {
  readonly isStrong: boolean
  readonly evidence: string
  /** Places of the other nouns in the text, for stores that sell one of these instead. */
  readonly others: ReadonlyArray<NamedPlace>
}

interface NamedPlace extends Place {
  readonly evidence: string
}

interface Hit {
  readonly entry: DictionaryEntry
  readonly words: string
  readonly at: number
}

interface Segment {
  readonly words: Array<string>
  /** Introduced by `for`: the user or the purpose. */
  readonly isPurpose: boolean
}

const punctuation = /\s[-–—]+\s|[–—|/()[\]{},:;•·،؛]|\s-|-\s/

/** Folded like the words in `words.ts`. Turkish `için` follows its noun, so it does not split a title. */
const purposeWords = new Set("for para pour fur till pentru dla для por".split(" "))
const separatorWords = new Set(
  "with by in without w from con com avec mit med cu ze z aus von sin sem san ohne utan без з із с со в у від от مع بدون من".split(
    " "
  )
)

const splitSegments = (text: string): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  for (const piece of text.split(punctuation)) {
    let current: Segment = { words: [], isPurpose: false }
    segments.push(current)
    for (const word of splitWords(piece)) {
      const isPurpose = purposeWords.has(word)
      if (isPurpose || separatorWords.has(word)) {
        current = { words: [], isPurpose }
        segments.push(current)
      } else current.words.push(word)
    }
  }
  return segments
}

const noHits: ReadonlyArray<Hit> = []

/** The longest known phrases, from right to left; no word counts twice. Returned in the order of the text. */
const findHits = (words: ReadonlyArray<string>): ReadonlyArray<Hit> => {
  const { entries, lengths } = loadDictionary()
  let hits: Array<Hit> | undefined
  let end = words.length
  while (end > 0) {
    const last = words[end - 1] ?? ""
    let wordCount = 1
    for (let length = Math.min(lengths.get(last) ?? 0, end); length > 0; length--) {
      const phrase = length === 1 ? last : words.slice(end - length, end).join(" ")
      const entry = entries.get(phrase)
      if (entry === undefined) continue
      hits ??= []
      hits.push({ entry, words: phrase, at: end - length })
      wordCount = length
      break
    }
    end -= wordCount
  }
  return hits === undefined ? noHits : hits.reverse()
}

/** A text in a head-first language may have English loanwords: it is head-first if at least half of its phrases are. */
const areHeadFirst = (hits: ReadonlyArray<Hit>) => {
  let first = 0
  for (const { entry } of hits) if (entry.isHeadFirst) first++
  return first > 0 && first * 2 >= hits.length
}

/**
 * Categories that only the pet domain overrides: a shirt for golfers is a shirt and a toy car is a toy, but clothes and
 * food for pets are pet products.
 */
const fixedCategories = new Set([
  "apparel_and_accessories",
  "baby_and_toddler",
  "food_beverages_and_tobacco",
  "mature",
  "media",
  "software",
  "toys_and_games"
])

const findOverridingDomain = (domains: ReadonlyArray<Hit>, head: Hit) =>
  domains.find(
    ({ entry }) => entry.category === "animals_and_pet_supplies" || !fixedCategories.has(head.entry.category)
  )

const readSegments = (segments: ReadonlyArray<Segment>, findsDomainsAnywhere: boolean): CategoryReading | undefined => {
  const hitsBySegment = segments.map(({ words }) => findHits(words))
  if (hitsBySegment.every((hits) => hits.length === 0)) return undefined
  const purposes = hitsBySegment.filter((_, at) => segments[at]?.isPurpose === true).flat()
  const isDomain = ({ entry }: Hit) => entry.strength === "domain"
  for (const strength of ["strong", "weak"] as const) {
    for (const [at, hits] of hitsBySegment.entries()) {
      if (hits.length === 0 || segments[at]?.isPurpose === true) continue
      const named = hits.filter(({ entry }) => entry.strength === strength)
      const isHeadFirst = areHeadFirst(hits)
      const head = isHeadFirst ? named[0] : named.at(-1)
      if (head === undefined) continue
      const modifiers = hits.filter((hit) => isDomain(hit) && (isHeadFirst ? hit.at > head.at : hit.at < head.at))
      const otherDomains = findsDomainsAnywhere ? hitsBySegment.flat().filter(isDomain) : purposes.filter(isDomain)
      const domain = findOverridingDomain([...modifiers, ...otherDomains], head)
      const place = (domain ?? head).entry
      const evidence = domain === undefined ? head.words : `${domain.words} + ${head.words}`
      const others = named.flatMap((hit) => (hit === head ? [] : [{ ...toPlace(hit.entry), evidence: hit.words }]))
      return { ...toPlace(place), isStrong: strength === "strong" || domain !== undefined, evidence, others }
    }
  }
  const fallback = hitsBySegment.flat().find(isDomain) ?? purposes[0]
  return fallback && { ...toPlace(fallback.entry), isStrong: false, evidence: fallback.words, others: [] }
}

export const readTitle = (title: string) => readSegments(splitSegments(title), false)

/** A type may be a path: its last known part decides, and a domain in any part (`Cycling > Lights`) overrides it. */
export const readType = (type: string) => {
  const parts = type.split(/>|»|›| \/ /).map((part) => splitSegments(part))
  return readSegments(parts.reverse().flat(), true)
}
