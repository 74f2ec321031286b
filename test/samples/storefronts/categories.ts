/** Categories of the invented products: ids and paths of the Google product taxonomy, 2021-09-21. */

export interface Category {
  readonly id: number
  readonly path: string
}

const food = "Food, Beverages & Tobacco > Food Items"
const drinks = "Food, Beverages & Tobacco > Beverages"
const kitchen = "Home & Garden > Kitchen & Dining"
const category = (id: number, path: string): Category => ({ id, path })

export const categories = {
  baking: category(2660, `${food} > Cooking & Baking Ingredients`),
  bread: category(424, `${food} > Bakery > Breads & Buns`),
  butter: category(5827, `${food} > Dairy Products > Butter & Margarine`),
  cakes: category(2194, `${food} > Bakery > Cakes & Dessert Bars`),
  candles: category(588, "Home & Garden > Decor > Home Fragrances > Candles"),
  cereal: category(4689, `${food} > Grains, Rice & Cereal > Cereal & Granola`),
  cheese: category(429, `${food} > Dairy Products > Cheese`),
  chocolate: category(4748, `${food} > Candy & Chocolate`),
  coffee: category(1868, `${drinks} > Coffee`),
  cookies: category(2229, `${food} > Bakery > Cookies`),
  crackers: category(1445, `${food} > Snack Foods > Crackers`),
  cream: category(5786, `${food} > Dairy Products > Cream`),
  cuttingBoards: category(666, `${kitchen} > Kitchen Tools & Utensils > Cutting Boards`),
  driedFruit: category(1755, `${food} > Fruits & Vegetables > Dried Fruits`),
  eggs: category(4627, `${food} > Meat, Seafood & Eggs > Eggs`),
  flour: category(2775, `${food} > Cooking & Baking Ingredients > Flour`),
  fragrance: category(2503, "Health & Beauty > Personal Care > Cosmetics > Bath & Body > Bar Soap"),
  giftCards: category(53, "Arts & Entertainment > Party & Celebration > Gift Giving > Gift Cards & Certificates"),
  hampers: category(136, `${food} > Food Gift Baskets`),
  herbs: category(1529, `${food} > Seasonings & Spices > Herbs & Spices`),
  honey: category(4947, `${food} > Condiments & Sauces > Honey`),
  iceCream: category(499991, `${food} > Frozen Desserts & Novelties > Ice Cream & Frozen Yogurt`),
  jam: category(2188, `${food} > Dips & Spreads > Jams & Jellies`),
  jars: category(667, `${kitchen} > Food Storage > Food Storage Containers`),
  milk: category(418, `${drinks} > Milk`),
  mugs: category(2169, `${kitchen} > Tableware > Drinkware > Mugs`),
  mustard: category(1387, `${food} > Condiments & Sauces > Mustard`),
  nuts: category(433, `${food} > Nuts & Seeds`),
  oil: category(2126, `${food} > Cooking & Baking Ingredients > Cooking Oils`),
  pasta: category(434, `${food} > Pasta & Noodles`),
  pastries: category(5750, `${food} > Bakery > Pastries & Scones`),
  pies: category(5749, `${food} > Bakery > Pies & Tarts`),
  pots: category(721, "Home & Garden > Lawn & Garden > Gardening > Pots & Planters"),
  pulses: category(5796, `${food} > Fruits & Vegetables > Dry Beans`),
  relish: category(500075, `${food} > Condiments & Sauces > Relish & Chutney`),
  rice: category(4682, `${food} > Grains, Rice & Cereal > Rice`),
  salt: category(4611, `${food} > Seasonings & Spices > Salt`),
  seeds: category(543562, "Home & Garden > Plants > Seeds > Seeds & Seed Tape"),
  tea: category(2073, `${drinks} > Tea & Infusions`),
  tools: category(3071, "Home & Garden > Lawn & Garden > Gardening > Gardening Tools > Gardening Forks"),
  towels: category(4257, "Home & Garden > Linens & Bedding > Towels > Kitchen Towels"),
  vases: category(602, "Home & Garden > Decor > Vases"),
  vinegar: category(2140, `${food} > Cooking & Baking Ingredients > Vinegar`),
  wateringCans: category(6318, "Home & Garden > Lawn & Garden > Watering & Irrigation > Watering Cans"),
  yogurt: category(1954, `${food} > Dairy Products > Yogurt`)
}
