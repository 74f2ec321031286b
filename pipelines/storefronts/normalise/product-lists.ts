/** How many variants and pictures of a product are kept; the others are reported and left out. */

/** Shopify allows this many. */
export const mostVariants = 2048
/** Shopify allows 250. */
export const mostPictures = 1000
