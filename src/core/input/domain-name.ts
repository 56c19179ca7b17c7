const maxLength = 253
const maxLabelLength = 63

/** Returns whether a label is an existing top-level domain: `fr`, `com`, `xn--p1ai`. */
export type IsTopLevel = (label: string) => boolean

/**
 * Returns whether a text is a domain name, such as `docs.acme.fr`. Returns false for `localhost`.
 */
export function isDomainName(text: string, isTopLevel: IsTopLevel): boolean {
  if (text.length > maxLength) return false
  const labels = text.toLowerCase().split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && labels.every(isLabel) && isTopLevel(last)
}

/**
 * Returns whether a domain name matches the pattern `base`, in which `*` stands for one label:
 * `docs.acme.fr` matches `*.acme.fr`.
 */
export function isDomainOf(text: string, base: string, isTopLevel: IsTopLevel): boolean {
  if (!isDomainName(text, isTopLevel)) return false
  const labels = text.toLowerCase().split('.')
  const wanted = base.toLowerCase().split('.')
  return (
    labels.length === wanted.length &&
    wanted.every((label, at) => label === '*' || label === labels[at])
  )
}

/**
 * Returns whether a text is a wildcard domain: a domain name whose first label, and no other, is
 * `*`, such as `*.acme.fr`.
 */
export function isWildcardDomain(text: string, isTopLevel: IsTopLevel): boolean {
  // the name must still fit when a label takes the place of the star
  return text.startsWith('*.') && isDomainName(`a.${text.slice(2)}`, isTopLevel)
}

/**
 * Returns whether a text that a person is typing can still become a domain name that begins with
 * `start`: true for the text `doc` and the start `docs.`.
 */
export function startsDomain(text: string, start: string): boolean {
  const [typed, wanted] = [text.toLowerCase(), start.toLowerCase()]
  if (!typed.startsWith(wanted.slice(0, typed.length))) return false
  return typed.split('.').every(label => label === '' || isLabelStart(label))
}

function isLabel(label: string): boolean {
  return isLabelStart(label) && !label.endsWith('-')
}

function isLabelStart(label: string): boolean {
  return /^[a-z0-9][a-z0-9-]*$/.test(label) && label.length <= maxLabelLength
}
