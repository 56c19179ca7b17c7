export const maxFileBytes = 5_000_000_000
/** Browsers reduce larger pictures before the upload. */
export const pictureReductionThresholdBytes = 1_000_000
export const maxCategoriesInError = 50
// in one PATCH
export const uploadChunkBytes = 8 * 1024 * 1024

export const maxFingerprintsSignedOut = 20
/** Of one call; as many as may be missing in a minute. */
export const maxReferences = 10
export const maxFingerprintsWhenSignedIn = 1000

export const maxFilesPerDepositBatch = 50
export const maxBytesPerBatchFile = 1024 * 1024
export const maxDepositBatchBodyBytes = 8 * 1024 * 1024

export const maxApiKeyDays = 365
// of one person, and of one company
export const maxApiKeysPerOwner = 100
export const maxUnprovedDomains = 20
export const maxGroupsPerPerson = 100
// the oldest ends when another begins
export const maxSessionsPerPerson = 100
// of one company; the oldest lapses when another is stored
export const maxWaitingSignUps = 10_000

export const registerLimits = {
  // of a file, and of the rows in it
  bytes: 500_000_000,
  rows: 1_000_000,
  // kept of the up to 1,000 in a file
  columns: 50,
  checkColumns: 3,
  // bytes of a cell, and of all kept cells of a row
  cell: 32 * 1024,
  row: 1_600_000,
  // of one company
  openImports: 20,
  stagedBytes: 1_000_000_000,
  // of refused rows: of imports that are open, and as many of those that have run
  refusedBytes: 500_000_000,
  // for which a version keeps its rows after the next one
  days: 30
} as const
