/** Categories of the invented products: ids and paths of the Google product taxonomy, 2021-09-21. */

export interface Category {
  readonly id: number
  readonly path: string
}

const food = "Food, Beverages & Tobacco > Food Items"
const drinks = "Food, Beverages & Tobacco > Beverages"
const kitchen = "Home & Garden > Kitchen & Dining"
const makeCategory = (id: number, path: string): Category => ({ id, path })

export const categories = {
  baking: makeCategory(2660, `${food} > Cooking & Baking Ingredients`),
  bread: makeCategory(424, `${food} > Bakery > Breads & Buns`),
  butter: makeCategory(5827, `${food} > Dairy Products > Butter & Margarine`),
  cakes: makeCategory(2194, `${food} > Bakery > Cakes & Dessert Bars`),
  candles: makeCategory(588, "Home & Garden > Decor > Home Fragrances > Candles"),
  cereal: makeCategory(4689, `${food} > Grains, Rice & Cereal > Cereal & Granola`),
  cheese: makeCategory(429, `${food} > Dairy Products > Cheese`),
  chocolate: makeCategory(4748, `${food} > Candy & Chocolate`),
  coffee: makeCategory(1868, `${drinks} > Coffee`),
  cookies: makeCategory(2229, `${food} > Bakery > Cookies`),
  crackers: makeCategory(1445, `${food} > Snack Foods > Crackers`),
  cream: makeCategory(5786, `${food} > Dairy Products > Cream`),
  cuttingBoards: makeCategory(666, `${kitchen} > Kitchen Tools & Utensils > Cutting Boards`),
  driedFruit: makeCategory(1755, `${food} > Fruits & Vegetables > Dried Fruits`),
  eggs: makeCategory(4627, `${food} > Meat, Seafood & Eggs > Eggs`),
  flour: makeCategory(2775, `${food} > Cooking & Baking Ingredients > Flour`),
  fragrance: makeCategory(2503, "Health & Beauty > Personal Care > Cosmetics > Bath & Body > Bar Soap"),
  giftCards: makeCategory(53, "Arts & Entertainment > Party & Celebration > Gift Giving > Gift Cards & Certificates"),
  hampers: makeCategory(136, `${food} > Food Gift Baskets`),
  herbs: makeCategory(1529, `${food} > Seasonings & Spices > Herbs & Spices`),
  honey: makeCategory(4947, `${food} > Condiments & Sauces > Honey`),
  iceCream: makeCategory(499991, `${food} > Frozen Desserts & Novelties > Ice Cream & Frozen Yogurt`),
  jam: makeCategory(2188, `${food} > Dips & Spreads > Jams & Jellies`),
  jars: makeCategory(667, `${kitchen} > Food Storage > Food Storage Containers`),
  milk: makeCategory(418, `${drinks} > Milk`),
  mugs: makeCategory(2169, `${kitchen} > Tableware > Drinkware > Mugs`),
  mustard: makeCategory(1387, `${food} > Condiments & Sauces > Mustard`),
  nuts: makeCategory(433, `${food} > Nuts & Seeds`),
  oil: makeCategory(2126, `${food} > Cooking & Baking Ingredients > Cooking Oils`),
  pasta: makeCategory(434, `${food} > Pasta & Noodles`),
  pastries: makeCategory(5750, `${food} > Bakery > Pastries & Scones`),
  pies: makeCategory(5749, `${food} > Bakery > Pies & Tarts`),
  pots: makeCategory(721, "Home & Garden > Lawn & Garden > Gardening > Pots & Planters"),
  pulses: makeCategory(5796, `${food} > Fruits & Vegetables > Dry Beans`),
  relish: makeCategory(500075, `${food} > Condiments & Sauces > Relish & Chutney`),
  rice: makeCategory(4682, `${food} > Grains, Rice & Cereal > Rice`),
  salt: makeCategory(4611, `${food} > Seasonings & Spices > Salt`),
  seeds: makeCategory(543562, "Home & Garden > Plants > Seeds > Seeds & Seed Tape"),
  tea: makeCategory(2073, `${drinks} > Tea & Infusions`),
  tools: makeCategory(3071, "Home & Garden > Lawn & Garden > Gardening > Gardening Tools > Gardening Forks"),
  towels: makeCategory(4257, "Home & Garden > Linens & Bedding > Towels > Kitchen Towels"),
  vases: makeCategory(602, "Home & Garden > Decor > Vases"),
  vinegar: makeCategory(2140, `${food} > Cooking & Baking Ingredients > Vinegar`),
  wateringCans: makeCategory(6318, "Home & Garden > Lawn & Garden > Watering & Irrigation > Watering Cans"),
  yogurt: makeCategory(1954, `${food} > Dairy Products > Yogurt`)
}
