/** 0 → `A`, 26 → `AA` */
export function columnLetters(at: number): string {
  const last = String.fromCharCode(65 + (at % 26))
  return at < 26 ? last : columnLetters(Math.floor(at / 26) - 1) + last
}
