/** `'help@acme.fr'` → `'mailto:help@acme.fr'`; `undefined` for what is no address. */
export function contactAddress(contact: string | undefined): string | undefined {
  if (contact === undefined || /[\s<>]/.test(contact)) return undefined
  if (/^https:\/\//.test(contact)) return URL.parse(contact)?.href
  return contact.includes('@') ? `mailto:${contact}` : undefined
}
