import { useStore } from '@nanostores/react'
import { formatExactTime } from '../../core/text/format.ts'
import { $requestFilter } from '../../stores/history/requests.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { stateFilterLabel } from './request-labels.ts'

interface PrintHeadingProps {
  count: number
  hasMore: boolean
  categories: ReadonlyMap<string, string>
  now: number
}

export function PrintHeading({ count, hasMore, categories, now }: PrintHeadingProps) {
  const { locale, t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const { kind, state, category, q, from, to } = useStore($requestFilter, { ssr: 'initial' })
  const time = (at: string) => formatExactTime(new Date(at), locale)
  const filters: [string, string | undefined][] = [
    [t('history.filters.search'), q],
    [t('history.filters.kind'), kind && t(`history.filters.${kind}`)],
    [t('history.filters.state'), state && stateFilterLabel(state, t)],
    [t('history.filters.category'), category && (categories.get(category) ?? category)],
    [t('history.print.from'), from && time(from)],
    [t('history.print.to'), to && time(to)]
  ]
  const chosen = filters.filter(([, value]) => value)
  return (
    <div className="hidden print:block" data-print-heading>
      {user && (
        <p>
          {user.company.name} · {user.username} · {user.email}
        </p>
      )}
      <p>{t('history.print.at', { time: formatExactTime(new Date(now), locale) })}</p>
      {chosen.map(([name, value]) => (
        <p key={name}>{t('history.print.filter', { name, value: value ?? '' })}</p>
      ))}
      <p>{t(hasMore ? 'history.print.part' : 'history.print.all', { count })}</p>
    </div>
  )
}
