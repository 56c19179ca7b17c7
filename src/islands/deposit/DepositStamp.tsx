import { useEffect, useState } from 'react'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatTimeWithSeconds } from '../../core/text/format.ts'
import type { QueuedDeposit } from '../../stores/deposits/deposits.ts'
import { AnimatedSeal, prefersStillness } from '../kit/AnimatedSeal.tsx'
import { useTranslation } from '../kit/use-translation.ts'

// so that a seal that was stamped does not move again
const stamped = new Set<string>()

interface DepositStampProps {
  request: ProcessedRequest
  count: number
}

export function DepositStamp({ request, count }: DepositStampProps) {
  const { locale, t } = useTranslation()
  const { recorded, leaf_hash } = request
  const time = recorded && formatTimeWithSeconds(new Date(recorded), locale)
  return (
    <div className="flex items-center gap-4 sm:gap-6" data-stamp>
      {leaf_hash && <Seal key={leaf_hash} leafHash={leaf_hash} />}
      <div className="grid min-w-0 gap-1">
        <h2 className="verdict tabular-nums">
          <time dateTime={recorded}>
            {time ? t('deposit.stamp.at', { time }) : t('deposit.stamp.word')}
          </time>
        </h2>
        {count > 1 && <p>{t('deposit.stamp.count', { count })}</p>}
      </div>
    </div>
  )
}

function Seal({ leafHash }: { leafHash: string }) {
  const [isDown, setDown] = useState(() => stamped.has(leafHash) || prefersStillness())
  useEffect(() => {
    stamped.add(leafHash)
    setDown(true)
  }, [leafHash])
  return (
    <AnimatedSeal
      state={isDown ? { kind: 'sealed', leafHash } : { kind: 'sealing' }}
      className="size-16 sm:size-24"
    />
  )
}

export function lastRecorded(deposits: readonly QueuedDeposit[]): ProcessedRequest | undefined {
  const requests = deposits.flatMap(({ $state }) => {
    const state = $state.get()
    return state.status === 'done' ? state.request : []
  })
  return requests.toSorted((a, b) => b.seq - a.seq)[0]
}
