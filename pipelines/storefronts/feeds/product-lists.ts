/** How many variants, pictures and tags of a product are kept: what is beyond is told, and left out. */

/** Shopify allows this many. */
export const mostVariants = 2048
/** Shopify allows 250. */
export const mostPictures = 1000
