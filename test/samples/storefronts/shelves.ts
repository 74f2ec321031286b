/** Goods of the invented stores by theme, with flavours, sizes and prices. Food comes first. */
import { type Category, categories as c } from "./categories.ts"

/** A label and its grams; 0 if the store omits the weight. */
export type Size = readonly [label: string, grams: number]

const weights: ReadonlyArray<Size> = [
  ["200 g", 200],
  ["400 g", 400],
  ["1 kg", 1000]
]
const volumes: ReadonlyArray<Size> = [
  ["250 ml", 262],
  ["500 ml", 524],
  ["1 l", 1048]
]
const packs: ReadonlyArray<Size> = [
  ["Single", 90],
  ["Box of 4", 360],
  ["Box of 12", 1080]
]
const pieces: ReadonlyArray<Size> = [
  ["Small", 0],
  ["Medium", 0],
  ["Large", 0]
]

export interface Goods {
  readonly noun: string
  /** The product type in the store. */
  readonly shelf: string
  readonly category: Category
  /** Before the noun, or after it if they begin with a space or a comma. */
  readonly flavours: ReadonlyArray<string>
  readonly sizes: ReadonlyArray<Size>
  /** Price of the smallest size, in cents. */
  readonly price: readonly [min: number, max: number]
}

const makeGoods = (
  noun: string,
  shelf: string,
  category: Category,
  sizes: ReadonlyArray<Size>,
  price: readonly [number, number],
  flavours: string
): Goods => ({ noun, shelf, category, flavours: ["", ...flavours.split("|")], sizes, price })

export interface Theme {
  readonly goods: readonly [Goods, ...Array<Goods>]
  readonly adjectives: ReadonlyArray<string>
  readonly makers: readonly [string, ...Array<string>]
  readonly tags: readonly [string, ...Array<string>]
}

const dairy: Theme = {
  goods: [
    makeGoods("Cheddar", "Cheese", c.cheese, weights, [520, 1150], "Smoked|Nettle| with Black Pepper|, Aged 12 Months"),
    makeGoods("Gouda", "Cheese", c.cheese, weights, [560, 1250], "Cumin|Raw Milk|, Aged 24 Months| – Truffle"),
    makeGoods("Brie", "Cheese", c.cheese, weights, [480, 900], "Triple Cream|Goat’s Milk| with Walnuts"),
    makeGoods("Blue Cheese", "Cheese", c.cheese, weights, [610, 1190], "Ewe’s Milk|Creamy| (Mild)"),
    makeGoods("Feta", "Cheese", c.cheese, weights, [390, 720], "Barrel-Aged|Marinated| in Oil & Herbs"),
    makeGoods("Curd Cheese", "Cheese", c.cheese, weights, [350, 590], "Chive|Honey| with Garlic"),
    makeGoods(
      "Salted Butter",
      "Butter & Cream",
      c.butter,
      weights,
      [310, 640],
      "Cultured|Whey|Seaweed| – Rolled by Hand"
    ),
    makeGoods("Ghee", "Butter & Cream", c.butter, weights, [690, 1290], "Toasted|Turmeric"),
    makeGoods("Crème Fraîche", "Butter & Cream", c.cream, volumes, [240, 420], "Thick|Lactose-Free"),
    makeGoods("Double Cream", "Butter & Cream", c.cream, volumes, [220, 390], "Clotted|Vanilla"),
    makeGoods("Whole Milk", "Milk", c.milk, volumes, [130, 260], "Unhomogenised|Goat’s|A2| in Glass"),
    makeGoods("Buttermilk", "Milk", c.milk, volumes, [150, 280], "Set|Mango"),
    makeGoods("Kefir", "Yogurt & Kefir", c.yogurt, volumes, [260, 480], "Strawberry|Plain|Ginger| – Blueberry"),
    makeGoods("Yogurt", "Yogurt & Kefir", c.yogurt, volumes, [230, 450], "Greek Style|Rhubarb|Ewe’s Milk| with Honey"),
    makeGoods("Ice Cream", "Frozen", c.iceCream, volumes, [420, 760], "Vanilla Pod|Salted Caramel|Damson"),
    makeGoods("Eggs", "Larder", c.eggs, packs, [45, 70], "Pastured|Duck|, Mixed Colours"),
    makeGoods("Cheese Board", "Kitchen", c.cuttingBoards, pieces, [2400, 5200], "Olive Wood|Slate|Beech")
  ],
  adjectives: ["", "Farmhouse", "Organic", "Grass-Fed", "Jersey", "Small-Batch"],
  makers: ["Meadow Dairy", "Alder Hill Creamery ", "Three Gates Farm", "three gates farm", "Nine Cows  "],
  tags: ["vegetarian", "organic", "chilled", "bestseller", "gluten free", "new in", "meadow::shelf => cold"]
}

const bakery: Theme = {
  goods: [
    makeGoods("Sourdough", "Bread", c.bread, pieces, [380, 640], "Country|Seeded|Olive|, Dark Crust"),
    makeGoods("Rye Loaf", "Bread", c.bread, pieces, [360, 590], "Caraway|100 %|Malted"),
    makeGoods("Baguette", "Bread", c.bread, packs, [180, 290], "Sesame|Wholemeal"),
    makeGoods("Focaccia", "Bread", c.bread, pieces, [450, 780], "Rosemary|Tomato & Olive|Potato"),
    makeGoods("Burger Buns", "Bread", c.bread, packs, [110, 190], "Brioche|Charcoal"),
    makeGoods("Croissant", "Pastries", c.pastries, packs, [210, 320], "Butter|Almond|Pistachio"),
    makeGoods("Cinnamon Bun", "Pastries", c.pastries, packs, [250, 360], "Cardamom|Iced"),
    makeGoods("Scones", "Pastries", c.pastries, packs, [160, 240], "Cheese|Sultana| with Clotted Cream"),
    makeGoods("Cookies", "Biscuits", c.cookies, packs, [150, 260], "Dark Chocolate|Oat & Raisin|Ginger"),
    makeGoods("Shortbread", "Biscuits", c.cookies, weights, [420, 690], "Lavender|Brown Sugar"),
    makeGoods("Celebration Cake", "Cakes", c.cakes, pieces, [2800, 4600], "Carrot|Lemon Drizzle|Red Velvet| – Vegan"),
    makeGoods("Brownies", "Cakes", c.cakes, packs, [240, 380], "Salted Caramel|Walnut|, Gluten-Free"),
    makeGoods("Apple Tart", "Tarts & Pies", c.pies, pieces, [1450, 2200], "Salted Caramel|Cinnamon"),
    makeGoods("Steak Pie", "Tarts & Pies", c.pies, packs, [520, 760], "Ale & Onion|Stilton"),
    makeGoods("Crackers", "Biscuits", c.crackers, weights, [320, 540], "Seeded|Charcoal|Oat"),
    makeGoods("Bread Flour", "Baking", c.flour, weights, [210, 390], "Stoneground|Wholemeal|Spelt"),
    makeGoods("Granola", "Breakfast", c.cereal, weights, [490, 820], "Maple & Pecan|Cocoa"),
    makeGoods("Linen Bread Bag", "Kitchen", c.towels, pieces, [1300, 2100], "Striped|Natural")
  ],
  adjectives: ["", "Slow-Proved", "Organic", "Harbour", "Wood-Fired", "Morning"],
  makers: ["Harbour Bakery", "Harbour Bakery ", "Quay Street Mill", "Lighthouse Kitchen"],
  tags: ["bread", "vegan", "contains nuts", "baked today", "weekend", "filter:crust=dark", "YGroup_harbour-07"]
}

const pantry: Theme = {
  goods: [
    makeGoods(
      "Olive Oil",
      "Oils & Vinegars",
      c.oil,
      volumes,
      [990, 1890],
      "Cold-Pressed|Lemon|Early Harvest| – Unfiltered"
    ),
    makeGoods("Cider Vinegar", "Oils & Vinegars", c.vinegar, volumes, [450, 890], "Raw|Raspberry|, Oak-Aged"),
    makeGoods("Apple Butter", "Spreads", c.jam, weights, [520, 840], "Cinnamon|Maple|No-Sugar"),
    makeGoods("Strawberry Jam", "Spreads", c.jam, weights, [490, 790], "Vanilla|Low-Sugar| with Rhubarb"),
    makeGoods("Honey", "Spreads", c.honey, weights, [690, 1390], "Heather|Orchard Blossom|Creamed| in the Comb"),
    makeGoods("Tomato Chutney", "Condiments", c.relish, weights, [460, 720], "Spiced|Green"),
    makeGoods("Mustard", "Condiments", c.mustard, weights, [380, 640], "Wholegrain|Honey|Tarragon"),
    makeGoods("Fusilli", "Pasta & Grains", c.pasta, weights, [290, 520], "Wholewheat|Red Lentil|Bronze-Cut"),
    makeGoods("Brown Rice", "Pasta & Grains", c.rice, weights, [310, 560], "Short-Grain|Sprouted"),
    makeGoods("Lentils", "Beans & Pulses", c.pulses, weights, [260, 480], "Beluga|Green|Split Red"),
    makeGoods("Paprika", "Spices", c.herbs, weights, [420, 760], "Smoked|Sweet|Hot"),
    makeGoods("Sea Salt", "Spices", c.salt, weights, [350, 690], "Flaked|Smoked|Celery"),
    makeGoods("Coffee Beans", "Coffee & Tea", c.coffee, weights, [890, 1690], "Decaf|Espresso|Single-Farm| (Washed)"),
    makeGoods("Herbal Tea", "Coffee & Tea", c.tea, packs, [45, 80], "Mint|Apple & Ginger|Chamomile"),
    makeGoods("Dark Chocolate", "Sweets", c.chocolate, packs, [390, 620], "Sea Salt|Hazelnut|85 %"),
    makeGoods("Almonds", "Nuts & Dried Fruit", c.nuts, weights, [540, 980], "Roasted|Rosemary|Smoked"),
    makeGoods("Dried Apple Rings", "Nuts & Dried Fruit", c.driedFruit, weights, [430, 790], "Cinnamon|Sour"),
    makeGoods("Breakfast Hamper", "Gifts", c.hampers, pieces, [4500, 8900], "Vegan|Family"),
    makeGoods("Storage Jar", "Kitchen", c.jars, pieces, [900, 1900], "Clip-Top|Amber Glass")
  ],
  adjectives: ["", "Organic", "Orchard", "Stone-Ground", "Fair Trade", "Hand-Packed"],
  makers: ["Orchard Pantry", "Old Press & Sons", "Hollow Tree Honey ", "Kettle Lane"],
  tags: ["organic", "vegan", "refill", "plastic free", "gift", "orchard::aisle => 4", "clearance"]
}

const homewares: Theme = {
  goods: [
    makeGoods("Terracotta Pot", "Garden", c.pots, pieces, [790, 1900], "Glazed|Ribbed| with Saucer"),
    makeGoods("Watering Can", "Garden", c.wateringCans, pieces, [2200, 4900], "Long-Spout|Zinc|Indoor"),
    makeGoods("Garden Fork", "Garden", c.tools, pieces, [1800, 3900], "Border|Hand|Ash-Handled"),
    makeGoods("Sweet Pea Seeds", "Seeds", c.seeds, packs, [190, 320], "Heirloom|Dwarf"),
    makeGoods("Tomato Seeds", "Seeds", c.seeds, packs, [190, 340], "Cherry|Beefsteak|Yellow Pear"),
    makeGoods("Candle", "Home", c.candles, pieces, [1400, 2800], "Beeswax|Fig Leaf|Cedar| – Unscented"),
    makeGoods("Soap Bar", "Home", c.fragrance, packs, [480, 760], "Oat & Honey|Nettle|Charcoal"),
    makeGoods("Tea Towel", "Kitchen", c.towels, pieces, [950, 1600], "Linen|Striped|Organic Cotton"),
    makeGoods("Mug", "Kitchen", c.mugs, packs, [1200, 1900], "Speckled|Blue Rim|Tall"),
    makeGoods("Chopping Board", "Kitchen", c.cuttingBoards, pieces, [2400, 5900], "End-Grain|Beech|Cherry Wood"),
    makeGoods("Vase", "Home", c.vases, pieces, [1900, 4200], "Bud|Recycled Glass|Stoneware")
  ],
  adjectives: ["", "Handmade", "Recycled", "Everyday", "Heritage", "Workshop"],
  makers: ["Potting Shed & Co", "North Window Studio ", "Fallow Field"],
  tags: ["garden", "gift", "handmade", "home", "last chance", "studio::room => kitchen"]
}

export const themes = { dairy, bakery, pantry, homewares }
export type ThemeName = keyof typeof themes
