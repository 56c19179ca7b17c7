/** 5 GB, the largest file taken. */
export const maxFileBytes = 5_000_000_000
/** Pictures above this many bytes are reduced in the browser before the upload. */
export const reduceAboveBytes = 1_000_000
/** As many categories are listed to a caller that has to name one. */
export const maxListedCategories = 50
/** Bytes of one PATCH. */
export const uploadChunkBytes = 8 * 1024 * 1024

/** Fingerprints that one call may ask about. */
export const maxItemsSignedOut = 20
export const maxItemsSignedIn = 1000
