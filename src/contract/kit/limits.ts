/** Bytes of the largest file that can be deposited: 5 GB. */
export const maxFileBytes = 5_000_000_000
/**
 * Maximum number of bytes of a picture that a browser uploads as it is. Browsers reduce larger
 * pictures before the upload.
 */
export const pictureReductionThresholdBytes = 1_000_000
/** Maximum number of categories that the error `category_required` lists. */
export const maxCategoriesInError = 50
/** Maximum number of bytes that a page sends in one PATCH of an upload: 8 MiB. */
export const uploadChunkBytes = 8 * 1024 * 1024

/** Maximum number of fingerprints in one verification by a caller who is not signed in. */
export const maxFingerprintsSignedOut = 20
/** Maximum number of fingerprints in one verification by a caller who is signed in. */
export const maxFingerprintsWhenSignedIn = 1000

/** Maximum number of files in one batch deposit (`POST /deposit/batch`). */
export const maxFilesPerDepositBatch = 50
/** Maximum size in bytes of each file of a batch deposit: 1 MiB. */
export const maxBytesPerBatchFile = 1024 * 1024
/** Maximum size in bytes of the whole body of a batch deposit: 8 MiB. */
export const maxDepositBatchBodyBytes = 8 * 1024 * 1024

/** Maximum number of days until an API key expires: one year. */
export const maxApiKeyDays = 365
/** Maximum number of API keys of one person. Also the maximum number of API keys of one company. */
export const maxApiKeysPerOwner = 100
/** Maximum number of domains of a company whose ownership is not proved yet. */
export const maxUnprovedDomains = 20
/** Maximum number of groups of which one person is a member. */
export const maxGroupsPerPerson = 100
/** Maximum number of sessions of one person. The oldest ends when another begins. */
export const maxSessionsPerPerson = 100
/**
 * Maximum number of a company's sign-ups that wait for confirmation. The oldest lapses when another
 * is stored.
 */
export const maxWaitingSignUps = 10_000
