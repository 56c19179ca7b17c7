const maxLength = 253
const maxLabelLength = 63

/** The last label of a name that can exist: `fr`, `com`, `xn--p1ai`. */
export type IsTopLevel = (label: string) => boolean

/** `docs.acme.fr`; `*.localhost` and `localhost` are told apart by whoever asks. */
export function isDomainName(text: string, isTopLevel: IsTopLevel): boolean {
  if (text.length > maxLength) return false
  const labels = text.toLowerCase().split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && labels.every(isLabel) && isTopLevel(last)
}

/** A name below `base`, whose `*` stands for exactly one label: `docs.acme.fr` of `*.acme.fr`. */
export function isDomainOf(text: string, base: string, isTopLevel: IsTopLevel): boolean {
  if (!isDomainName(text, isTopLevel)) return false
  const labels = text.toLowerCase().split('.')
  const wanted = base.toLowerCase().split('.')
  return (
    labels.length === wanted.length &&
    wanted.every((label, at) => label === '*' || label === labels[at])
  )
}

/** A name with one wildcard, as its first label: `*.acme.fr`. */
export function isWildcardDomain(text: string, isTopLevel: IsTopLevel): boolean {
  // with the label that the star may become, the whole must still fit
  return text.startsWith('*.') && isDomainName(`a.${text.slice(2)}`, isTopLevel)
}

/** Whether what is typed so far can still become a name that begins with `start`: `doc` and `docs.acme.fr` of `docs.`. */
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
