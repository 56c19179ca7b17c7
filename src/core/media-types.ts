/**
 * Returns whether a list of accepted media types contains a type. An entry such as `image/*` stands
 * for all types that begin with `image/`. A list that is `null` contains all types.
 */
export function acceptsMediaType(accepted: readonly string[] | null, type: string): boolean {
  if (accepted === null) return true
  return accepted.some(entry =>
    entry.endsWith('/*') ? type.startsWith(entry.slice(0, -1)) : entry === type
  )
}

/** Returns whether a list of accepted media types contains a kind of picture. */
export function acceptsPictures(accepted: readonly string[] | null): boolean {
  return accepted === null || accepted.some(type => type.startsWith('image/'))
}

/**
 * Groups of media types that are usually accepted together, by the name of the group: `pdf`,
 * `pictures`.
 */
export const mediaTypesByKind = {
  pdf: ['application/pdf'],
  pictures: ['image/*'],
  office: [
    'application/msword',
    'application/vnd.ms-excel',
    'application/vnd.ms-powerpoint',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/vnd.oasis.opendocument.text',
    'application/vnd.oasis.opendocument.spreadsheet',
    'application/vnd.oasis.opendocument.presentation'
  ],
  text: ['text/*']
} as const satisfies Record<string, readonly string[]>
export type MediaKind = keyof typeof mediaTypesByKind

// as: Object.keys loses the names
export const mediaKindNames = Object.keys(mediaTypesByKind) as MediaKind[]

/**
 * Splits a list of media types. `kinds` are the names of the groups in `mediaTypesByKind` whose
 * types are all in the list. `others` are the remaining types.
 */
export function separateCompleteMediaKinds(types: readonly string[]): {
  kinds: MediaKind[]
  others: string[]
} {
  const kinds = mediaKindNames.filter(kind =>
    mediaTypesByKind[kind].every(type => types.includes(type))
  )
  const known = new Set<string>(kinds.flatMap(kind => mediaTypesByKind[kind]))
  return { kinds, others: types.filter(type => !known.has(type)) }
}
