const bytesPerGigabyte = 1e9

/** What is typed as a number of requests: `'1 000'` → 1000, `'-3'` → 0; `null` (unlimited) for nothing and for no number. */
export function readRequestLimit(text: string): number | null {
  const value = readNumber(text)
  return value === null ? null : Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER)
}

/** What is typed as gigabytes, in bytes: `'1,5'` → 1500000000; `null` (unlimited) for nothing and for no number. */
export function readStorageLimit(text: string): number | null {
  const value = readNumber(text)
  if (value === null) return null
  return Math.min(Math.round(value * bytesPerGigabyte), Number.MAX_SAFE_INTEGER)
}

/** Bytes as they are typed in gigabytes: 1500000000 → `'1.5'`, `null` → `''` */
export function writeStorageLimit(bytes: number | null): string {
  return bytes === null ? '' : String(bytes / bytesPerGigabyte)
}

function readNumber(text: string): number | null {
  // people write thousands with blanks, and decimals with a comma
  const plain = text.replace(/[\s\u00a0\u202f]/g, '').replace(',', '.')
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(plain)) return null
  return Math.max(0, Number(plain))
}
