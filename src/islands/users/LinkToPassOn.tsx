import { useStore } from '@nanostores/react'
import { useEffect, useRef } from 'react'
import type { Member } from '../../contract/members.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { $linkToPassOn } from '../../stores/admin/members.ts'
import { CopyButton } from '../kit/CopyButton.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface LinkToPassOnProps {
  member: Pick<Member, 'id' | 'email' | 'state'>
}

export function LinkToPassOn({ member: { id, email, state } }: LinkToPassOnProps) {
  const { locale, t } = useTranslation()
  const known = useStore($linkToPassOn, { ssr: 'initial' })
  const box = useRef<HTMLElement>(null)
  const isShown = known?.id === id && (state === 'invited' || state === 'waiting')
  const link = isShown ? known.link : undefined
  useEffect(() => {
    // nobody else gets the link, so it must not stay below the edge of the screen
    if (link !== undefined) box.current?.scrollIntoView({ block: 'center' })
  }, [link])
  if (!isShown) return null
  const label = t(state === 'waiting' ? 'person.link.verify' : 'person.link.invitation')
  return (
    <section
      ref={box}
      className="alert alert-info alert-outline flex flex-col items-start gap-2"
      aria-label={label}
    >
      <p className="font-semibold text-base-content">{label}</p>
      <p className="break-all font-mono text-base-content text-sm">{known.link}</p>
      <CopyButton text={known.link} label={t('person.link.copy')} />
      <p className="wrap-anywhere text-base-content">{t('person.link.use', { email })}</p>
      <p className="text-base-content">
        {t('person.link.until', { date: formatDateTime(new Date(known.until), locale) })}
      </p>
    </section>
  )
}
