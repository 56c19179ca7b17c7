import { useState } from 'react'
import type { UsageDay } from '../../contract/overview.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { languageTag } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

const dayWidth = 10
const height = 100
// one request can be seen beside thousands
const leastHeight = 2

export function DayChart({ days }: { days: readonly UsageDay[] }) {
  const { locale, t } = useTranslation()
  const [picked, setPicked] = useState<number>()
  const date = new Intl.DateTimeFormat(dateTag(languageTag(locale)), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC'
  })
  const dateOf = (day: UsageDay | undefined) => (day ? date.format(new Date(day.day)) : '')
  const most = days.reduce((max, day) => (requestsOf(day) > requestsOf(max) ? day : max))
  const last = days.length - 1
  const day = days[picked ?? last]
  const move = (to: number) => setPicked(Math.min(last, Math.max(0, to)))
  const keys: Record<string, number> = {
    ArrowLeft: (picked ?? last) - 1,
    ArrowRight: (picked ?? last) + 1,
    Home: 0,
    End: last
  }
  const figuresOf = (each: UsageDay) =>
    t('overview.usage.at', {
      day: dateOf(each),
      deposits: t('overview.usage.deposits', { count: each.deposits }),
      verifications: t('overview.usage.verifications', { count: each.verifications })
    })
  return (
    <div className="flex flex-col gap-1">
      <p className="meta" aria-hidden="true">
        {day && figuresOf(day)}
      </p>
      <div
        role="slider"
        tabIndex={0}
        aria-label={t('overview.usage.chart', {
          from: dateOf(days[0]),
          to: dateOf(days[last]),
          max: requestsOf(most),
          day: dateOf(most)
        })}
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(picked ?? last) + 1}
        aria-valuetext={day && figuresOf(day)}
        className="rounded-sm"
        onKeyDown={event => {
          const to = keys[event.key]
          if (to === undefined) return
          event.preventDefault()
          move(to)
        }}
        onPointerMove={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          move(Math.floor(((clientX - left) / width) * days.length))
        }}
        onPointerLeave={() => setPicked(undefined)}
      >
        <svg
          viewBox={`0 0 ${days.length * dayWidth} ${height}`}
          preserveAspectRatio="none"
          className="block h-32 w-full border-b border-line"
          aria-hidden="true"
        >
          {days.map((each, at) => {
            const requests = requestsOf(each)
            const tall = requests && Math.max(leastHeight, (requests / requestsOf(most)) * height)
            return (
              <g key={each.day} className={at === picked ? 'fill-base-content' : 'fill-secondary'}>
                <rect x={at * dayWidth + 1} y={height - tall} width={dayWidth - 2} height={tall} />
              </g>
            )
          })}
        </svg>
      </div>
      <p className="meta flex justify-between" aria-hidden="true">
        <span>{dateOf(days[0])}</span>
        <span>{dateOf(days[last])}</span>
      </p>
    </div>
  )
}

function requestsOf({ deposits, verifications }: UsageDay): number {
  return deposits + verifications
}
