export const domainSteps = ['records', 'check', 'look', 'live'] as const
export type DomainStep = (typeof domainSteps)[number]

export function parseDomainStep(search: string): { step?: DomainStep } {
  const named = new URLSearchParams(search).get('step')
  const step = domainSteps.find(each => each === named)
  return step ? { step } : {}
}

export function formatDomainStepQuery({ step }: { step?: DomainStep }): string {
  return step ? `?step=${step}` : ''
}
