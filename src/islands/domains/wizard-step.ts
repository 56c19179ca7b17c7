/** The steps of a new domain that follow after the person has entered the host name. */
export const domainSteps = ['records', 'check', 'look', 'live'] as const
export type DomainStep = (typeof domainSteps)[number]

/**
 * Reads the step of a new domain from the query of the page's address: `?step=records`. Returns an
 * empty object if the query contains no such step.
 */
export function parseDomainStep(search: string): { step?: DomainStep } {
  const named = new URLSearchParams(search).get('step')
  const step = domainSteps.find(each => each === named)
  return step ? { step } : {}
}

/**
 * Returns the step as the query of an address: `?step=records`. Returns an empty text if `step` is
 * undefined.
 */
export function formatDomainStepQuery({ step }: { step?: DomainStep }): string {
  return step ? `?step=${step}` : ''
}
