/** `image/*` stands for all types that begin with `image/`, `null` for all types. */
export function acceptsMediaType(accepted: readonly string[] | null, type: string): boolean {
  if (accepted === null) return true
  return accepted.some(entry =>
    entry.endsWith('/*') ? type.startsWith(entry.slice(0, -1)) : entry === type
  )
}

export function acceptsPictures(accepted: readonly string[] | null): boolean {
  return accepted === null || accepted.some(type => type.startsWith('image/'))
}

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

/** `kinds` are those of which the list has all types. */
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
