/** The largest file: 5 GB. */
export const maxFileBytes = 5_000_000_000
/** The browser reduces a picture with more bytes than this before the upload. */
export const reduceAboveBytes = 1_000_000
/** The most categories that the error `category_required` lists. */
export const maxListedCategories = 50
/** The most bytes of one PATCH. */
export const uploadChunkBytes = 8 * 1024 * 1024

/** The most fingerprints in one verification by a caller who is not signed in. */
export const maxItemsSignedOut = 20
export const maxItemsSignedIn = 1000

/** The most files of one batch, the most bytes of each, and the most bytes of the whole body: 8 MiB. */
export const maxBatchItems = 50
export const maxBatchFileBytes = 1024 * 1024
export const maxBatchBytes = 8 * 1024 * 1024
