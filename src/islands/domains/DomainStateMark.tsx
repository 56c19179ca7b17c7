import type { ReactNode } from 'react'
import type { DomainState } from '../../contract/domains.ts'
import { Icon } from '../kit/Icon.tsx'

interface DomainStateMarkProps {
  state: DomainState
  children: ReactNode
}

const looks = {
  unverified: { icon: 'dashed', color: 'text-ink-soft' },
  verified: { icon: 'check', color: 'text-success' },
  failing: { icon: 'alert', color: 'text-warning' },
  quarantined: { icon: 'alert', color: 'text-error' },
  taken: { icon: 'alert', color: 'text-error' }
} as const

export function DomainStateMark({ state, children }: DomainStateMarkProps) {
  const { icon, color } = looks[state]
  return (
    <span className={`inline-flex items-center align-bottom gap-1.5 ${color}`}>
      <Icon name={icon} className="size-4" />
      {children}
    </span>
  )
}
