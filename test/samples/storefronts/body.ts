/** Descriptions like those of real stores: paragraphs, lists, tables, entities, remains of word processors, some scripts. */
import type { Chance } from "../branded-foods/chance.ts"
import type { ThemeName } from "./shelves.ts"

type Sentences = readonly [string, ...Array<string>]

const food: Sentences = [
  "We make it in small batches, twice a week, and send it out the next morning.",
  "Nothing goes in that you would not find in your own kitchen.",
  "It keeps well, but in our house it never has the chance to.",
  "Bring it to room temperature half an hour before you serve it.",
  "Lovely on its own; better still with something sharp beside it.",
  "Each batch tastes a little different, because each season does.",
  "Our neighbours have been buying it for years, and they are not easy to please.",
  "Packed in paper & card; the paper goes on the compost."
]

const openings: Readonly<Record<ThemeName, Sentences>> = {
  dairy: [
    "All our {noun} begins with milk from one herd, milked before sunrise and never more than six hours old.",
    "For people who thought they did not care for {noun}.",
    "The cows are out from March to November, and you can taste it in this {noun}.",
    "Turned by hand, salted by hand, and left alone for as long as it needs."
  ],
  bakery: [
    "Two days in the making: one for the dough to rest, one for us to wait.",
    "What comes out of the oven first is gone by seven; the second tray is yours.",
    "Flour from four miles away, water, salt, time.",
    "As {noun} should be: a proper crust, and tender inside."
  ],
  pantry: [
    "It earns its place on the front row of the shelf.",
    "We tasted thirty kinds of {noun} before we chose this one, and then we asked for a drier year.",
    "Pressed, picked or packed within a day of the harvest.",
    "The {noun} we reach for when there is nothing else in the house."
  ],
  homewares: [
    "A {noun} to use every day, and to hand on.",
    "Made in a workshop of five, from offcuts that others throw away.",
    "Every {noun} is finished by hand, so no two are quite alike.",
    "Simple, heavy, and pleasant to hold: a {noun} as it should be."
  ]
}

const care: Sentences = [
  "Wipe clean with a damp cloth.",
  "It will age, and look the better for it.",
  "Keep out of frost.",
  "Please allow five days: we make each one when you order it."
]

const points: Sentences = [
  "No additives",
  "Made by hand",
  "Suitable for vegetarians",
  "Keeps for 10 days at 3&ndash;5&nbsp;&deg;C",
  "Ready to ship in 24&nbsp;hours",
  "Recyclable packaging",
  "Small producer &amp; fair price",
  "From a farm within 20 km"
]

const script = `<script>window.shelf = window.shelf || []; shelf.push({ "view": "product", if: 1 < 2 });</script>`
const style = "<style>.tab-title { font-weight: 600 } .tab > li { margin: 0 }</style>"

const makeList = (chance: Chance, count: number) => {
  const from = chance.below(points.length)
  let items = ""
  for (let i = 0; i < count; i++) items += `<li>${points[(from + i) % points.length]}</li>\n`
  return `<ul>\n${items}</ul>`
}

const makeTable = (chance: Chance) =>
  [
    `<table border="1"><thead><tr><th>Per 100&nbsp;g</th><th>&nbsp;</th></tr></thead><tbody>`,
    `<tr><td>Energy</td><td>${180 + chance.below(400)} kcal</td></tr>`,
    `<tr><td>Fat</td><td>${chance.below(38)}.${chance.below(10)} g</td></tr>`,
    `<tr><td>of which saturates</td><td>&lt; ${1 + chance.below(20)} g</td></tr>`,
    `<tr><td>Salt</td><td>${chance.below(3)}.${chance.below(10)} g</td></tr></tbody></table>`
  ].join("\n")

/** "" for one product in twelve. */
export const drawBody = (chance: Chance, theme: ThemeName, noun: string): string => {
  const sentences = theme === "homewares" ? care : food
  const opening = chance.pick(openings[theme]).replaceAll("{noun}", noun.toLowerCase())
  const [second, third] = [chance.pick(sentences), chance.pick(sentences)]
  const kind = chance.below(24)
  if (kind < 2) return ""
  if (kind < 8) return `<p>${opening} ${second}</p>`
  if (kind < 13)
    return `<p>${opening}</p>\n<p><strong>Good to know</strong></p>\n${makeList(chance, 3)}\n<p>${third}</p>`
  if (kind < 16) return `<h2>About our ${noun.toLowerCase()}</h2>\n<p>${opening}<br>${second}</p>\n${makeTable(chance)}`
  if (kind < 19)
    return `<p class="MsoNormal"><span style="font-size: 10.5pt;" data-mce-fragment="1">${opening}<o:p></o:p></span></p>\n<p class="MsoNormal"><span>&nbsp;</span></p>\n<p class="MsoNormal"><span>${second} It&rsquo;s &pound;0 to try: ask for a taster.</span></p>`
  if (kind < 21)
    return `${style}<div class="tab"><h3>Details</h3>${makeList(chance, 2)}</div>\n${script}\n<p>${opening}</p>`
  if (kind < 23)
    return `${opening}<br/><br/>${second} <em>Cr&egrave;me de la cr&egrave;me,</em> says the postman &#128578;.`
  return `<div><p>${opening}</p><ol><li>${second}</li><li>${third}</li></ol><!-- imported --></div>`
}
