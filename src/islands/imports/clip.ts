export function clip(text: string, most = 60): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
