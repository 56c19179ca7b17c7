/** Returns a link to an e-mail or https address, or undefined: `'help@acme.fr'` → `'mailto:help@acme.fr'` */
export function contactAddress(contact: string | undefined): string | undefined {
  if (contact === undefined || /[\s<>]/.test(contact)) return undefined
  if (/^https:\/\//.test(contact)) return URL.parse(contact)?.href
  return contact.includes('@') ? `mailto:${contact}` : undefined
}
