import { useTranslation } from '../kit/use-translation.ts'

interface WizardStepsProps {
  step: 'host' | DomainStep
  open?: (step: DomainStep) => void
}

export function WizardSteps({ step, open }: WizardStepsProps) {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('domains.steps.label')}>
      <ol className="flex flex-wrap gap-x-6 gap-y-1">
        {(['host', ...domainSteps] as const).map((each, at) => {
          const words = t('domains.steps.numbered', {
            number: at + 1,
            name: t(`domains.steps.${each}`)
          })
          const look =
            each === step
              ? 'inline-flex min-h-8 items-center font-semibold'
              : 'inline-flex min-h-8 items-center text-ink-soft'
          return (
            <li key={each} aria-current={each === step ? 'step' : undefined}>
              {open && each !== 'host' && each !== step ? (
                <a
                  className={`${look} link`}
                  href={formatDomainStepQuery({ step: each })}
                  onClick={event => {
                    if (event.metaKey || event.ctrlKey || event.shiftKey) return
                    event.preventDefault()
                    open(each)
                  }}
                >
                  {words}
                </a>
              ) : (
                <span className={look}>{words}</span>
              )}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}

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
