/** Recognises products that are not goods: gift cards, parcel protection, warranties, fees, donations. */

interface ListedProduct {
  readonly title: string
  readonly product_type: string | null
  readonly handle?: string | null
  readonly tags: ReadonlyArray<string>
}

/** As a whole title, `route` and `insurance` name parcel protection; in a longer title they are roads and books. */
const patterns = [
  /\bgift\W?(?:cards?|vouchers?|certificates?)\b/i,
  /\b(?:shipping|package|parcel|delivery|order|route|checkout)\W{0,3}(?:package\W)?(?:protection|protect|insurance|assurance)\b/i,
  /\b(?:mc-?)?hidden-?fee\b/i,
  /^(?:route|donations?|insurance|tips?|gratuity|shipping|shipping (?:fee|cost|charge)|additional (?:fee|charge)|deposit)$/i,
  /\bdonation (?:to|for)\b|\bdonate\b/i,
  /\b(?:extended|product) warranty\b/i,
  /^(?:cadou card|card cadou|geschenkgutschein|gutschein|carte cadeau|tarjeta (?:de )?regalo|presentkort|karta podarunkowa|подарункова карта|подарочная карта|بطاقة هدية|hediye kartı)$/i
]

const matchesAny = (text: string) => patterns.some((pattern) => pattern.test(text.trim()))

/** `products.sql` adds another reason: products without a shipped variant, such as services and files. */
export const isMerchandise = ({ handle, product_type, tags, title }: ListedProduct) =>
  !matchesAny(title) &&
  !matchesAny(product_type ?? "") &&
  !/^(?:mc-)?hidden-fee|^gift-?card$|^(?:route|shipping)-?protection/.test(handle ?? "") &&
  !tags.some((tag) => /^(?:mc-)?hidden-?fee$/i.test(tag.trim()))
