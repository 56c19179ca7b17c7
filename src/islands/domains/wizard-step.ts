/** The steps of a new domain after the first step, in which the person enters the host name. */
export const domainSteps = ['records', 'check', 'look', 'live'] as const
export type DomainStep = (typeof domainSteps)[number]

/** Reads the step from the address of a page: `?step=records`. */
export function readDomainStep(search: string): { step?: DomainStep } {
  const named = new URLSearchParams(search).get('step')
  const step = domainSteps.find(each => each === named)
  return step ? { step } : {}
}

/**
 * Returns the step as the query of an address: `?step=records`. Returns an empty text if `step` is
 * undefined.
 */
export function writeDomainStep({ step }: { step?: DomainStep }): string {
  return step ? `?step=${step}` : ''
}
