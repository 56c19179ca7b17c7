/** Returns a text of at most 60 characters; a longer one ends with `…`. */
export function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
