import { useEffect, useState } from 'react'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { sealOfState } from '../../core/pages/state-looks.ts'
import { formatTimeWithSeconds } from '../../core/text/format.ts'
import type { QueuedDeposit } from '../../stores/deposits/deposits.ts'
import { ReceiptButton } from '../files/ReceiptButton.tsx'
import { AnimatedSeal, prefersStillness } from '../kit/AnimatedSeal.tsx'
import { useTranslation } from '../kit/use-translation.ts'

// so that a seal that was stamped does not move again
const stamped = new Set<string>()

interface DepositStampProps {
  /** The last that was recorded. Records are sealed in order, so if it is sealed, all are. */
  request: ProcessedRequest
  count: number
}

export function DepositStamp({ request, count }: DepositStampProps) {
  const { t } = useTranslation()
  const { rung, leaf_hash, deposit_id } = request
  const isSealed = rung === 'sealed'
  return (
    <div className="flex items-start gap-4 pb-2 sm:items-center sm:gap-6" data-stamp={rung}>
      {leaf_hash && <Seal key={leaf_hash} rung={rung} leafHash={leaf_hash} />}
      <div className="grid min-w-0 justify-items-start gap-1">
        <StampWords request={request} count={count} />
        {count > 1 && <p>{t(`deposit.summary.${isSealed ? 'sealed' : 'done'}`, { count })}</p>}
        {isSealed && count === 1 && deposit_id && (
          <ReceiptButton depositId={deposit_id} className="btn btn-outline mt-2" />
        )}
      </div>
    </div>
  )
}

function StampWords({ request: { rung, recorded, sealed }, count }: DepositStampProps) {
  const { locale, t } = useTranslation()
  const timeOf = (time: string) => formatTimeWithSeconds(new Date(time), locale)
  const heading = 'verdict tabular-nums'
  if (rung === 'sealed') {
    return (
      <>
        <h2 className={heading}>{t('deposit.stamp.sealed')}</h2>
        {sealed && (
          <p className="tabular-nums">
            <time dateTime={sealed}>
              {t('deposit.stamp.since', { time: timeOf(sealed), count })}
            </time>
          </p>
        )}
      </>
    )
  }
  return (
    <>
      <h2 className={heading}>
        {recorded ? (
          <time dateTime={recorded}>{t('deposit.stamp.at', { time: timeOf(recorded) })}</time>
        ) : (
          t('deposit.state.done')
        )}
      </h2>
      {rung === 'sealing_paused' && <p>{t('deposit.stamp.paused')}</p>}
    </>
  )
}

function Seal({
  rung = 'recorded',
  leafHash
}: Pick<ProcessedRequest, 'rung'> & { leafHash: string }) {
  const [isDown, setDown] = useState(() => stamped.has(leafHash) || prefersStillness())
  const isSealed = rung === 'sealed'
  useEffect(() => {
    if (!isSealed) return
    stamped.add(leafHash)
    setDown(true)
  }, [isSealed, leafHash])
  return (
    <AnimatedSeal
      state={isSealed && !isDown ? { kind: 'recorded' } : sealOfState(rung, leafHash)}
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
