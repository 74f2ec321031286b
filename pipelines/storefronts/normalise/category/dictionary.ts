/**
 * Maps words and phrases to places. They come from the lists in `words/`, one per language, which can be extended (see
 * `words/en.txt`), and from the names in the taxonomy itself. The lists take precedence.
 */
import { readdirSync, readFileSync } from "node:fs"
import { BadLine } from "../../../run/files/hand-edited.ts"
import { findNode, listNodes, type Place, toPlace } from "./taxonomy.ts"
import { toPhraseKey } from "./words.ts"

/**
 * A `strong` word names a product. A `weak` word names one too, but is often a flavour, a picture or a part of another
 * product (`apple`, `lock`); it counts only if no strong word does. A `domain` word names the purpose of another
 * thing: a bag for a bicycle is cycling gear, not luggage.
 */
type Strength = "strong" | "weak" | "domain"

export interface DictionaryEntry extends Place {
  readonly strength: Strength
  /** In the language of its list the noun comes before its modifiers: `Tênis de corrida`, not `running shoes`. */
  readonly isHeadFirst: boolean
}

interface WordList {
  readonly language: string
  readonly isHeadFirst: boolean
  readonly sections: ReadonlyArray<{ readonly path: string; readonly words: ReadonlyArray<string> }>
}

const folder = new URL("./words/", import.meta.url)
const headFirstLanguages = new Set(["ar", "cs", "es", "fr", "it", "pl", "pt", "ro", "ru", "uk"])

const badLine = (language: string, line: number, problem: string) =>
  new BadLine({ file: `pipelines/storefronts/normalise/category/words/${language}.txt`, line, column: null, problem })

export const parseList = (language: string, list: string): WordList => {
  const sections: Array<{ path: string; words: Array<string> }> = []
  for (const [index, content] of list.split(/\r?\n/).entries()) {
    const text = content.trim()
    if (text === "" || text.startsWith("#")) continue
    const line = index + 1
    const [, path] = /^\[(.+)\]$/.exec(text) ?? []
    const section = sections.at(-1)
    if (path !== undefined && findNode(path) === undefined) {
      throw badLine(language, line, `"${path}" is not a path of the product taxonomy`)
    }
    if (path !== undefined) sections.push({ path, words: [] })
    else if (section === undefined) throw badLine(language, line, `"${text}" is not below a path`)
    else section.words.push(text)
  }
  return { language, isHeadFirst: headFirstLanguages.has(language), sections }
}

const listLanguages = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".txt"))
    .map((name) => name.slice(0, -".txt".length))
    .sort((a, b) => Number(b === "en") - Number(a === "en") || (a < b ? -1 : 1))

const fileOf = (language: string) => new URL(`${language}.txt`, folder)
export const listWordFiles = () => listLanguages().map(fileOf)

/** English first: if two lists contain a word, the earlier list wins. */
export const readWordLists = (): ReadonlyArray<WordList> =>
  listLanguages().map((language) => parseList(language, readFileSync(fileOf(language), "utf8")))

const strengthMarks: Readonly<Record<string, Strength>> = { "~": "weak", "!": "domain" }

export const readWord = (word: string): { readonly key: string; readonly strength: Strength } => {
  const strength = strengthMarks[word.charAt(0)]
  return { key: toPhraseKey(strength === undefined ? word : word.slice(1)), strength: strength ?? "strong" }
}

/**
 * A word that names only a top level (`electronics`) is weak. So is a word of up to three letters in a language other
 * than English: it is too often a syllable of a name (`et`, `bal`, `ton`).
 */
const load = () => {
  const entries = new Map<string, DictionaryEntry>()
  for (const { language, isHeadFirst, sections } of readWordLists()) {
    for (const { path, words } of sections) {
      const node = findNode(path)
      if (node === undefined) continue // `parseList` rejects such a path
      for (const word of words) {
        const { key, strength } = readWord(word)
        const isDoubtful = node.depth === 1 || (language !== "en" && /^[a-z]{1,3}$/.test(key))
        if (key === "" || entries.has(key)) continue
        entries.set(key, { ...toPlace(node), strength: isDoubtful ? "weak" : strength, isHeadFirst })
      }
    }
  }
  for (const [key, entry] of readTaxonomyNames()) if (entry !== undefined && !entries.has(key)) entries.set(key, entry)
  return { entries, lengths: findPhraseLengths(entries.keys()) }
}

/** The length of the longest phrase that ends with each word. Most words end no phrase, which saves five look-ups. */
const findPhraseLengths = (keys: Iterable<string>) => {
  const lengths = new Map<string, number>()
  for (const key of keys) {
    const words = key.split(" ")
    const last = words.at(-1) ?? ""
    lengths.set(last, Math.max(lengths.get(last) ?? 0, words.length))
  }
  return lengths
}

/**
 * Names of categories that belong to a single top level. A name of one word is weak: the taxonomy has `Sashes`,
 * `Trunks` and `Rings` where few people expect them.
 */
const readTaxonomyNames = () => {
  const names = new Map<string, DictionaryEntry | undefined>()
  for (const node of listNodes()) {
    const name = node.path.split(" > ").at(-1) ?? ""
    if (/[,&/()]/.test(name)) continue
    const key = toPhraseKey(name)
    const before = names.get(key)
    const strength: Strength = key.includes(" ") ? "strong" : "weak"
    if (!names.has(key)) names.set(key, { ...toPlace(node), strength, isHeadFirst: false })
    else if (before?.category !== node.category) names.set(key, undefined)
  }
  return names
}

let loaded: ReturnType<typeof load> | undefined

export const loadDictionary = () => {
  loaded ??= load()
  return loaded
}
