/**
 * Normalises the words of titles, types and collections for the dictionary: lower case, accents of Latin letters removed,
 * English plurals folded, Arabic spelling variants unified and articles removed. Other scripts keep their letters.
 * Words of the dictionary go through the same function, so a fold that is wrong for a language (`jeans` to `jean`)
 * still matches itself.
 */

const irregular = new Map([
  ["children", "child"],
  ["feet", "foot"],
  ["geese", "goose"],
  ["halves", "half"],
  ["knives", "knife"],
  ["leaves", "leaf"],
  ["lenses", "lens"],
  ["lens", "lens"],
  ["loaves", "loaf"],
  ["men", "man"],
  ["mice", "mouse"],
  ["scarves", "scarf"],
  ["shelves", "shelf"],
  ["teeth", "tooth"],
  ["women", "woman"]
])

/** `cookies` and `cookie` both become `cooky`: it only matters that they match. */
const toSingular = (word: string) => {
  const irregularForm = irregular.get(word)
  if (irregularForm !== undefined) return irregularForm
  if (word.length < 4) return word
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`
  if (word.length > 4 && word.endsWith("ie")) return `${word.slice(0, -2)}y`
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word
  if (/(?:ss|x|zz|ch|sh)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

const letters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i"
}

const isAscii = (text: string) => {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}

/** Drops vowel and stretching signs and leading articles; unifies alef with hamza or madda, final ya, ta marbuta. */
const foldArabic = (word: string) => {
  const plain = word
    .replace(/[\u0610-\u061a\u064b-\u065f\u0670\u0640]/g, "")
    .replace(/[أإآٱ]/g, "ا")
    .replace(/ى/g, "ي")
    .replace(/ة/g, "ه")
  if (plain.length > 5 && /^[وب]ال/.test(plain)) return plain.slice(3)
  if (plain.length > 4 && /^(?:ال|لل)/.test(plain)) return plain.slice(2)
  return plain
}

const foldWord = (word: string) => {
  if (isAscii(word)) return toSingular(word)
  if (/\p{Script=Arabic}/u.test(word)) return foldArabic(word)
  if (!/\p{Script=Latin}/u.test(word)) return word
  const latin = word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]/g, (letter) => letters[letter] ?? letter)
  return toSingular(latin)
}

const maxFoldedWords = 50_000
const foldedWords = new Map<string, string>()

/** Empty for a number without letters, which is no word. */
const foldCached = (word: string) => {
  const cached = foldedWords.get(word)
  if (cached !== undefined) return cached
  const folded = /^\p{N}+$/u.test(word) ? "" : foldWord(word)
  if (foldedWords.size >= maxFoldedWords) foldedWords.clear() // words of stores repeat; many new ones must not use unlimited memory
  if (word.length <= 40) foldedWords.set(word, folded)
  return folded
}

/** `&amp;` is not the word "amp". Titles come decoded; what is left was encoded twice, or cannot be decoded. */
const dropEntities = (text: string) => (text.includes("&") ? text.replace(/&#?[a-z\d]{1,31};/gi, " ") : text)

const asciiWord = /[a-z0-9]+/g
const anyWord = /[\p{L}\p{M}\p{N}]+/gu

/**
 * The words in order. Hyphens separate them (`t-shirt` is two). Drops possessive `'s`, numbers without
 * letters, and the names of entities that are still in the text: "&amp;" is not the word "amp".
 */
export const splitWords = (stated: string): ReadonlyArray<string> => {
  const text = dropEntities(stated)
  const ascii = isAscii(text)
  const lower = (ascii ? text : text.normalize("NFKC")).toLowerCase()
  const plain = /['’]/.test(lower) ? lower.replace(/['’]s?(?![a-z])/g, "") : lower
  const words: Array<string> = []
  for (const word of plain.match(ascii ? asciiWord : anyWord) ?? []) {
    const key = foldCached(word)
    if (key !== "") words.push(key)
  }
  return words
}

/** The key of a phrase in the dictionary: its words with one space between them. */
export const toPhraseKey = (text: string) => splitWords(text).join(" ")
