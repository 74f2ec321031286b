/**
 * Kinds of foods by shelf: categories of the source with their weights, words for names, and first ingredients. Category
 * names are those of FoodData Central, some with two spaces or broken characters, as in the source.
 */
import type { Chance } from "./chance.ts"
import { Weighted } from "./chance.ts"

export interface Shelf {
  readonly categories: ReadonlyArray<readonly [string, number]>
  readonly nouns: readonly [string, ...Array<string>]
  readonly flavours: readonly [string, ...Array<string>]
  readonly bases: readonly [string, ...Array<string>]
  readonly isLiquid: boolean
  /** GS1 product class, only from GDSN. */
  readonly gpc: number
}

const splitWords = (text: string): readonly [string, ...Array<string>] => {
  const [first = "", ...rest] = text.split("|")
  return [first, ...rest]
}

/** Shelves of liquids: their servings are mostly in ml. */
const liquids: ReadonlySet<number> = new Set([10000201, 10000202, 10000203, 10000217])

const makeShelf = (
  gpc: number,
  nouns: string,
  flavours: string,
  bases: string,
  categories: Shelf["categories"]
): Shelf => ({
  categories,
  nouns: splitWords(nouns),
  flavours: splitWords(flavours),
  bases: splitWords(bases),
  isLiquid: liquids.has(gpc),
  gpc
})

export const shelves: ReadonlyArray<Shelf> = [
  makeShelf(
    50161800,
    "POPCORN|PEANUTS|CASHEWS|ALMONDS|TRAIL MIX|MIXED NUTS|SUNFLOWER SEEDS|PISTACHIOS|PUMPKIN SEEDS|WALNUTS|KETTLE CORN|NUT CLUSTERS",
    "SALTED|HONEY ROASTED|DRY ROASTED|LIGHTLY SALTED|SMOKED|CHILI LIME|SEA SALT|CARAMEL|WHITE CHEDDAR|BUTTERY|CRANBERRY|UNSALTED",
    "PEANUTS|CASHEWS|ALMONDS|POPCORN|RAISINS|SUNFLOWER SEEDS|WALNUTS|PISTACHIOS",
    [
      ["Popcorn, Peanuts, Seeds & Related Snacks", 504],
      ["Wholesome Snacks", 124],
      ["Snacks", 27]
    ]
  ),
  makeShelf(
    10000045,
    "GUMMY BEARS|HARD CANDY|JELLY BEANS|LOLLIPOPS|TAFFY|LICORICE TWISTS|CANDY CANES|MINTS|CARAMELS|MARSHMALLOWS|BUBBLE GUM|SOUR WORMS|FRUIT CHEWS",
    "STRAWBERRY|SOUR APPLE|CHERRY|WATERMELON|PEPPERMINT|ASSORTED FRUIT|ORANGE|GRAPE|BLUE RASPBERRY|CINNAMON|BUTTERSCOTCH|ROOT BEER",
    "SUGAR|CORN SYRUP|GLUCOSE SYRUP|DEXTROSE|GELATIN|GUM BASE",
    [
      ["Candy", 415],
      ["Chewing Gum & Mints", 23],
      ["Confectionery Products", 7],
      ["Confectionery", 3],
      ["Confection & Snacks", 2]
    ]
  ),
  makeShelf(
    10000028,
    "CHEDDAR CHEESE|MOZZARELLA CHEESE|SWISS CHEESE|COLBY JACK CHEESE|STRING CHEESE|CREAM CHEESE|PARMESAN CHEESE|COTTAGE CHEESE|GOUDA|FETA|PROVOLONE|MUENSTER|GOAT CHEESE|MONTEREY JACK CHEESE",
    "SHARP|MILD|EXTRA SHARP|SHREDDED|SLICED|LOWFAT|SMOKED|PEPPER|REDUCED FAT|AGED|HERB & GARLIC|MEDIUM|WHITE|CRUMBLED",
    "PASTEURIZED MILK|CULTURED PASTEURIZED MILK|PASTEURIZED PART-SKIM MILK|CULTURED MILK|CREAM",
    [
      ["Cheese", 405],
      ["Cheese/Cheese Substitutes", 5]
    ]
  ),
  makeShelf(
    10000033,
    "ICE CREAM|FROZEN YOGURT|GELATO|SHERBET|ICE CREAM SANDWICHES|SORBET|ICE CREAM BARS|FUDGE POPS|FROZEN DAIRY DESSERT",
    "VANILLA|CHOCOLATE|STRAWBERRY|COOKIES & CREAM|MINT CHOCOLATE CHIP|BUTTER PECAN|SALTED CARAMEL|COFFEE|PISTACHIO|MANGO|PEANUT BUTTER CUP|RASPBERRY",
    "MILK|CREAM|SKIM MILK|MILKFAT AND NONFAT MILK|BUTTERMILK",
    [
      ["Ice Cream & Frozen Yogurt", 310],
      ["Other Frozen Desserts", 43]
    ]
  ),
  makeShelf(
    10000161,
    "CHOCOLATE CHIP COOKIES|SANDWICH COOKIES|SHORTBREAD|OATMEAL COOKIES|GINGER SNAPS|WAFERS|BISCOTTI|GRAHAM CRACKERS|CRACKERS|MACAROONS|FLATBREAD CRISPS",
    "CHOCOLATE|VANILLA|LEMON|PEANUT BUTTER|OATMEAL RAISIN|ALMOND|BUTTER|DOUBLE CHOCOLATE|COCONUT|GLUTEN FREE|SEA SALT",
    "ENRICHED FLOUR (WHEAT FLOUR, NIACIN, REDUCED IRON, THIAMINE MONONITRATE, RIBOFLAVIN, FOLIC ACID)|WHOLE WHEAT FLOUR|WHEAT FLOUR|ROLLED OATS",
    [
      ["Cookies & Biscuits", 272],
      ["Crackers & Biscotti", 87],
      ["Biscuits/Cookies", 45],
      ["Flavored Snack Crackers", 16],
      ["Biscuits/Cookies (Shelf Stable)", 3]
    ]
  ),
  makeShelf(
    10000164,
    "BREAD|HAMBURGER BUNS|BAGELS|TORTILLAS|ENGLISH MUFFINS|DINNER ROLLS|SOURDOUGH|PITA|CIABATTA|BAGUETTE|NAAN|HOT DOG BUNS",
    "WHOLE WHEAT|WHITE|MULTIGRAIN|RYE|SEEDED|GARLIC|HONEY WHEAT|CINNAMON RAISIN|SPROUTED GRAIN|BRIOCHE|ITALIAN|POTATO",
    "ENRICHED WHEAT FLOUR (FLOUR, MALTED BARLEY FLOUR, REDUCED IRON, NIACIN, THIAMIN MONONITRATE, RIBOFLAVIN, FOLIC ACID)|WHOLE WHEAT FLOUR|UNBLEACHED WHEAT FLOUR",
    [
      ["Breads & Buns", 246],
      ["Crusts & Dough", 37],
      ["Bread", 12],
      ["Frozen Bread & Dough", 15],
      ["Savoury Bakery Products", 13]
    ]
  ),
  makeShelf(
    10000177,
    "POTATO CHIPS|TORTILLA CHIPS|PRETZELS|CORN CHIPS|VEGGIE STRAWS|PITA CHIPS|CHEESE PUFFS|PRETZEL STICKS|PLANTAIN CHIPS|RICE CRISPS|PORK RINDS",
    "SEA SALT|BARBECUE|SOUR CREAM & ONION|SALT & VINEGAR|JALAPENO|CHEDDAR|RANCH|KETTLE COOKED|CHILI LIME|BLUE CORN|DILL PICKLE|SWEET POTATO",
    "POTATOES|CORN|WHOLE GRAIN CORN|ENRICHED FLOUR (WHEAT FLOUR, NIACIN, REDUCED IRON, THIAMINE MONONITRATE, RIBOFLAVIN, FOLIC ACID)|CASSAVA FLOUR",
    [
      ["Chips, Pretzels & Snacks", 220],
      ["Other Snacks", 141]
    ]
  ),
  makeShelf(
    10000201,
    "ORANGE JUICE|APPLE JUICE|CRANBERRY JUICE COCKTAIL|LEMONADE|GRAPE JUICE|FRUIT PUNCH|TOMATO JUICE|PINEAPPLE JUICE|SMOOTHIE|NECTAR|JUICE BLEND",
    "100%|PULP FREE|MANGO|PEACH|CHERRY|POMEGRANATE|FROM CONCENTRATE|STRAWBERRY BANANA|NO SUGAR ADDED|COLD PRESSED|TROPICAL|WATERMELON",
    "FILTERED WATER|WATER|ORANGE JUICE|APPLE JUICE CONCENTRATE|CRANBERRY JUICE|PINEAPPLE JUICE",
    [
      ["Fruit & Vegetable Juice, Nectars & Fruit Drinks", 214],
      ["Other Drinks", 106],
      ["Non Alcoholic Beverages  Ready to Drink", 39],
      ["Drinks Flavoured - Ready to Drink", 2],
      ["Non Alcoholic Beverages â€“ Ready to Drink", 1]
    ]
  ),
  makeShelf(
    10000260,
    "DILL PICKLES|GREEN OLIVES|PICKLED JALAPENOS|BANANA PEPPERS|SWEET RELISH|KALAMATA OLIVES|BREAD & BUTTER CHIPS|SAUERKRAUT|CAPERS|ROASTED PEPPERS|KIMCHI",
    "KOSHER|SPICY|SLICED|WHOLE|STUFFED|HOT|SWEET|GARLIC|MILD|PITTED|HALVES|MARINATED",
    "CUCUMBERS|GREEN OLIVES|JALAPENO PEPPERS|CABBAGE|RED PEPPERS|WATER|DISTILLED VINEGAR",
    [
      ["Pickles, Olives, Peppers & Relishes", 213],
      ["Other Condiments", 13]
    ]
  ),
  makeShelf(
    10000285,
    "GRANOLA BARS|PROTEIN BAR|CEREAL BARS|FRUIT & NUT BAR|ENERGY BAR|OAT BITES|GRANOLA|CORN FLAKES|TOASTED OATS CEREAL|MUESLI|INSTANT OATMEAL|BRAN FLAKES|CRISPY RICE CEREAL",
    "PEANUT BUTTER|CHOCOLATE CHIP|MAPLE BROWN SUGAR|HONEY|BLUEBERRY|CINNAMON|APPLE CINNAMON|ALMOND|CRANBERRY|FROSTED|COCOA|STRAWBERRY",
    "WHOLE GRAIN OATS|ROLLED OATS|WHOLE GRAIN WHEAT|RICE|MILLED CORN|PROTEIN BLEND (SOY PROTEIN ISOLATE, WHEY PROTEIN CONCENTRATE)",
    [
      ["Snack, Energy & Granola Bars", 191],
      ["Cereal", 184],
      ["Processed Cereal Products", 27],
      ["Cereal/Muesli Bars", 6]
    ]
  ),
  makeShelf(
    10000043,
    "DARK CHOCOLATE BAR|MILK CHOCOLATE BAR|CHOCOLATE TRUFFLES|PEANUT BUTTER CUPS|CHOCOLATE COVERED ALMONDS|CHOCOLATE CHIPS|BAKING COCOA|PRALINES|BONBONS",
    "SEA SALT|CARAMEL|HAZELNUT|MINT|70% CACAO|ORANGE|RASPBERRY|ALMOND|TOFFEE|COCONUT|85% CACAO|CRISPED RICE",
    "MILK CHOCOLATE (SUGAR, COCOA BUTTER, CHOCOLATE LIQUOR, MILK, SOY LECITHIN, VANILLA)|CHOCOLATE LIQUOR|CANE SUGAR|COCOA MASS",
    [["Chocolate", 187]]
  ),
  makeShelf(
    10000203,
    "YOGURT|GREEK YOGURT|WHOLE MILK|2% REDUCED FAT MILK|HALF & HALF|HEAVY CREAM|BUTTER|CHOCOLATE MILK|ALMOND MILK|OAT MILK|KEFIR|SOUR CREAM|COFFEE CREAMER",
    "VANILLA|PLAIN|STRAWBERRY|BLUEBERRY|PEACH|LOWFAT|NONFAT|HONEY|UNSWEETENED|UNSALTED|BLACK CHERRY|COCONUT",
    "CULTURED PASTEURIZED GRADE A MILK|GRADE A MILK|CREAM|ALMOND MILK (FILTERED WATER, ALMONDS)|OAT BASE (WATER, OATS)|NONFAT MILK",
    [
      ["Yogurt", 179],
      ["Milk", 105],
      ["Milk Additives", 52],
      ["Butter & Spread", 46],
      ["Plant Based Milk", 42],
      ["Cream", 41],
      ["Yogurt/Yogurt Substitutes", 14]
    ]
  ),
  makeShelf(
    10000168,
    "CUPCAKES|POUND CAKE|MUFFINS|DONUTS|BROWNIES|CROISSANTS|CINNAMON ROLLS|CHEESECAKE|APPLE PIE|CAKE MIX|PANCAKE MIX|WAFFLES|FROSTING|DANISH",
    "CHOCOLATE|VANILLA|BLUEBERRY|LEMON|RED VELVET|CARROT|GLAZED|PUMPKIN SPICE|BANANA NUT|CONFETTI|BUTTER|FUDGE",
    "SUGAR|ENRICHED BLEACHED FLOUR (WHEAT FLOUR, NIACIN, REDUCED IRON, THIAMINE MONONITRATE, RIBOFLAVIN, FOLIC ACID)|EGGS|WHEAT FLOUR",
    [
      ["Cakes, Cupcakes, Snack Cakes", 178],
      ["Baking Decorations & Dessert Toppings", 78],
      ["Cake, Cookie & Cupcake Mixes", 70],
      ["Croissants, Sweet Rolls, Muffins & Other Pastries", 60],
      ["Bread & Muffin Mixes", 22],
      ["Baking/Cooking Mixes/Supplies", 19],
      ["Sweet Bakery Products", 8],
      ["Cakes - Sweet (Frozen)", 2]
    ]
  ),
  makeShelf(
    10000202,
    "COLA|GINGER ALE|ROOT BEER|SPARKLING WATER|ICED TEA|GREEN TEA|SPRING WATER|ENERGY DRINK|TONIC WATER|CREAM SODA|COLD BREW COFFEE|SPORTS DRINK",
    "DIET|LEMON|LIME|ORANGE|BLACK CHERRY|GRAPEFRUIT|ZERO SUGAR|RASPBERRY|PEACH|CAFFEINE FREE|MANGO|BERRY",
    "CARBONATED WATER|WATER|FILTERED WATER|BREWED TEA (WATER, TEA LEAVES)|COFFEE (WATER, COFFEE BEANS)",
    [
      ["Soda", 168],
      ["Water", 103],
      ["Iced & Bottle Tea", 54],
      ["Energy, Protein & Muscle Recovery Drinks", 57],
      ["Sport Drinks", 18],
      ["Coffee", 10],
      ["Alcohol", 20]
    ]
  ),
  makeShelf(
    10000048,
    "TACO SEASONING|GARLIC SALT|STEAK RUB|BLACK PEPPER|CHILI POWDER|GROUND CINNAMON|ITALIAN SEASONING|MARINADE|BROWN SUGAR|BAKING POWDER|VANILLA EXTRACT|DRINK MIX",
    "SMOKY|MILD|LEMON PEPPER|CAJUN|ORGANIC|GROUND|HOT|TERIYAKI|ROSEMARY|MESQUITE|LOW SODIUM|ONION",
    "SALT|SPICES|SUGAR|BLACK PEPPER|DEHYDRATED GARLIC|MALTODEXTRIN|CHILI PEPPER",
    [
      ["Seasoning Mixes, Salts, Marinades & Tenderizers", 158],
      ["Powdered Drinks", 106],
      ["Herbs & Spices", 44],
      ["Granulated, Brown & Powdered Sugar", 37],
      ["Herbs/Spices/Extracts", 6],
      ["Oils Edible", 1]
    ]
  ),
  makeShelf(
    10000050,
    "TOMATO KETCHUP|YELLOW MUSTARD|BBQ SAUCE|SALSA|HUMMUS|GUACAMOLE|RANCH DRESSING|MAYONNAISE|PASTA SAUCE|HOT SAUCE|SOY SAUCE|ALFREDO SAUCE|BALSAMIC VINAIGRETTE|PESTO|CAESAR DRESSING",
    "MILD|MEDIUM|CHIPOTLE|HABANERO|ROASTED GARLIC|HONEY|ORGANIC|SPICY|TOMATO BASIL|SMOKED|ITALIAN|THICK & CHUNKY",
    "TOMATOES|TOMATO PUREE (WATER, TOMATO PASTE)|SOYBEAN OIL|DISTILLED VINEGAR|WATER|COOKED CHICKPEAS|HIGH FRUCTOSE CORN SYRUP",
    [
      ["Ketchup, Mustard, BBQ & Cheese Sauce", 155],
      ["Dips & Salsa", 142],
      ["Salad Dressing & Mayonnaise", 133],
      ["Oriental, Mexican & Ethnic Sauces", 82],
      ["Prepared Pasta & Pizza Sauces", 81],
      ["Other Cooking Sauces", 47],
      ["Sauces/Spreads/Dips/Condiments", 19]
    ]
  ),
  makeShelf(
    10000136,
    "SPAGHETTI|PENNE RIGATE|ELBOW MACARONI|JASMINE RICE|QUINOA|EGG NOODLES|BLACK BEANS|KIDNEY BEANS|LENTILS|COUSCOUS|RAMEN NOODLES|BROWN RICE|CHICKPEAS",
    "WHOLE WHEAT|ORGANIC|ENRICHED|LONG GRAIN|GLUTEN FREE|TRI-COLOR|LOW SODIUM|QUICK COOKING|THIN|WILD|SEASONED|CHILI",
    "DURUM WHEAT SEMOLINA|ENRICHED SEMOLINA (WHEAT SEMOLINA, NIACIN, FERROUS SULFATE, THIAMIN MONONITRATE, RIBOFLAVIN, FOLIC ACID)|RICE|PREPARED BEANS|WATER",
    [
      ["Pasta by Shape & Type", 141],
      ["Canned & Bottled Beans", 70],
      ["Rice", 45],
      ["Pasta Dinners", 38],
      ["Vegetable and Lentil Mixes", 36],
      ["Other Grains & Seeds", 31],
      ["All Noodles", 20],
      ["Flavored Rice Dishes", 20],
      ["Flours & Corn Meal", 20],
      ["Pasta/Noodles", 7]
    ]
  ),
  makeShelf(
    10000006,
    "BABY CARROTS|SPINACH|BROCCOLI FLORETS|APPLE SLICES|STRAWBERRIES|DICED TOMATOES|CUT GREEN BEANS|WHOLE KERNEL CORN|PEACH HALVES|APPLESAUCE|DRIED CRANBERRIES|RAISINS|SALAD KIT|MUSHROOMS|FRENCH FRIES",
    "FRESH|FROZEN|ORGANIC|CUT|CHOPPED|NO SALT ADDED|EXTRA FANCY|PETITE|ROASTED|SWEET|UNSWEETENED|CRINKLE CUT",
    "CARROTS|SPINACH|BROCCOLI|TOMATOES|GREEN BEANS|CORN|PEACHES|APPLES|CRANBERRIES|POTATOES",
    [
      ["Pre-Packaged Fruit & Vegetables", 139],
      ["Canned Vegetables", 117],
      ["Frozen Vegetables", 81],
      ["Tomatoes", 69],
      ["Canned Fruit", 65],
      ["Frozen Fruit & Fruit Juice Concentrates", 61],
      ["French Fries, Potatoes & Onion Rings", 20],
      ["Vegetables  Prepared/Processed", 20],
      ["Vegetables â€“ Prepared/Processed", 5],
      ["Fruit  Prepared/Processed", 3]
    ]
  ),
  makeShelf(
    10000302,
    "CHICKEN NUGGETS|BEEF LASAGNA|CHEESE PIZZA|PEPPERONI PIZZA|BEEF BURRITO|MACARONI & CHEESE|CHICKEN POT PIE|VEGETABLE EGG ROLLS|CHICKEN NOODLE SOUP|TOMATO SOUP|BEEF CHILI|TURKEY SANDWICH|PIEROGIES|CLAM CHOWDER",
    "FAMILY SIZE|SPICY|HOMESTYLE|CRISPY|THIN CRUST|CREAMY|THREE CHEESE|SOUTHWEST|CLASSIC|HEARTY|GRILLED|BUFFALO STYLE",
    "COOKED CHICKEN|WATER|ENRICHED FLOUR (WHEAT FLOUR, NIACIN, REDUCED IRON, THIAMINE MONONITRATE, RIBOFLAVIN, FOLIC ACID)|BEEF|CHICKEN BROTH|TOMATOES (TOMATOES, CITRIC ACID)",
    [
      ["Frozen Dinners & Entrees", 126],
      ["Frozen Appetizers & Hors D'oeuvres", 113],
      ["Pizza", 86],
      ["Other Soups", 61],
      ["Other Deli", 60],
      ["Mexican Dinner Mixes", 45],
      ["Canned Soup", 45],
      ["Entrees, Sides & Small Meals", 34],
      ["Prepared Soups", 33],
      ["Dough Based Products / Meals", 33],
      ["Prepared Subs & Sandwiches", 21],
      ["Baby/Infant  Foods/Beverages", 2]
    ]
  ),
  makeShelf(
    10000148,
    "SALAMI|PORK SAUSAGE|TURKEY BREAST|BEEF JERKY|BACON|HOT DOGS|SMOKED HAM|CHICKEN BREAST|GROUND BEEF|TUNA|SALMON FILLETS|SHRIMP|FISH STICKS|CRAB MEAT|BREAKFAST LINKS",
    "SMOKED|UNCURED|HICKORY|OVEN ROASTED|TERIYAKI|PEPPERED|WILD CAUGHT|BREADED|LOW SODIUM|ITALIAN|HONEY|HARDWOOD SMOKED",
    "PORK|BEEF|CHICKEN BREAST MEAT|TURKEY BREAST|SALMON|TUNA|SHRIMP|MECHANICALLY SEPARATED CHICKEN",
    [
      ["Pepperoni, Salami & Cold Cuts", 102],
      ["Frozen Fish & Seafood", 82],
      ["Sausages, Hotdogs & Brats", 81],
      ["Other Meats", 55],
      ["Meat/Poultry/Other Animals  Prepared/Processed", 38],
      ["Canned Seafood", 31],
      ["Bacon, Sausages & Ribs", 28],
      ["Canned Tuna", 27],
      ["Meat/Poultry/Other Animals  Unprepared/Unprocessed", 24],
      ["Fish & Seafood", 20],
      ["Meat/Poultry/Other Animals â€“ Prepared/Processed", 1]
    ]
  ),
  makeShelf(
    10000217,
    "EXTRA VIRGIN OLIVE OIL|CANOLA OIL|VEGETABLE OIL|AVOCADO OIL|MAPLE SYRUP|HONEY|PANCAKE SYRUP|PEANUT BUTTER|STRAWBERRY PRESERVES|GRAPE JELLY|ALMOND BUTTER|COCONUT OIL",
    "ORGANIC|PURE|CREAMY|CRUNCHY|COLD PRESSED|RAW|GRADE A|SEEDLESS|SUGAR FREE|WILDFLOWER|LITE|UNREFINED",
    "OLIVE OIL|CANOLA OIL|SOYBEAN OIL|MAPLE SYRUP|HONEY|ROASTED PEANUTS|STRAWBERRIES|CORN SYRUP",
    [
      ["Vegetable & Cooking Oils", 70],
      ["Jam, Jelly & Fruit Spreads", 64],
      ["Nut & Seed Butters", 63],
      ["Syrups & Molasses", 50],
      ["Honey", 31]
    ]
  ),
  makeShelf(
    10000321,
    "EGG NOG|GELATIN DESSERT|RICE PUDDING|TOFU|VEGGIE BURGERS|HERBAL TEA BAGS|PROTEIN POWDER|FRUIT SNACKS|SEAWEED SNACKS|STUFFING MIX|TOOTHPASTE",
    "VANILLA|CHOCOLATE|BERRY|ORGANIC|ORIGINAL|CHAMOMILE|FIRM|PLANT BASED|GINGER|CINNAMON|MINT|APPLE",
    "WATER|SUGAR|SOYBEANS|WHEY PROTEIN ISOLATE|VITAL WHEAT GLUTEN|BROWN RICE",
    [
      ["Tea Bags", 38],
      ["Eggs & Egg Substitutes", 20],
      ["Puddings & Custards", 20],
      ["Gelatin, Gels, Pectins & Desserts", 20],
      ["Vegetarian Frozen Meats", 9],
      ["Meal Replacement Supplements", 7],
      ["Specialty Formula Supplements", 5],
      ["Green Supplements", 2],
      ["Weight Control", 1],
      ["Oral Hygiene Products", 1],
      ["Home Decoration & Supplies", 1]
    ]
  )
]

/** Prices in place of categories, from shifted columns. */
const junk: ReadonlyArray<string> = ["21.99", "18.18", "16.9", "3.66", "4.5", "12"]

const byCategory = new Weighted(
  shelves.flatMap((s) => s.categories.map(([category, weight]) => [{ category, shelf: s }, weight] as const))
)

export const drawCategory = (chance: Chance) => {
  const drawn = byCategory.draw(chance)
  return chance.oddityHappens(0.0006) ? { shelf: drawn.shelf, category: junk[chance.below(junk.length)] ?? "" } : drawn
}
